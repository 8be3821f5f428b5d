"""The report of a closure."""
