"""The one road from an input to packages: read, assign, write wheels or a site, judge."""
