"""What the directory of a closure becomes: a directory, wheels, images of file systems and containers."""
