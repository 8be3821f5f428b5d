"""The directory of a closure, and what it becomes."""
