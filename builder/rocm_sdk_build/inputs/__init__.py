"""What there is: artifacts, prefixes, Debian's packages, downloads, and the rules of what goes where."""
