"""The forms of a closure's directory: a directory, wheels, images of file systems and containers."""
