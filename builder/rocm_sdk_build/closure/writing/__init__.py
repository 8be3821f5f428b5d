"""The directory of a closure, and its forms."""
