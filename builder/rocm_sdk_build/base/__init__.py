"""What all parts use: wheels and other files, zip, deflate, digests, scratch directories, dates; and the errors."""
