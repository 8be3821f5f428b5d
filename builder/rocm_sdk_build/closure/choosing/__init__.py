"""The choice of a closure: roots, libraries, files, and the reason for each."""
