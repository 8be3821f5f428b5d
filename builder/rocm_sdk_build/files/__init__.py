"""Files of packages: wheels, zip, deflate, digests, scratch directories, dates."""
