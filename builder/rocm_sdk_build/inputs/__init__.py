"""The input of the builder: artifacts, prefixes, Debian's packages, downloads, and the rules for the packages."""
