"""Tries a closure where nothing else is."""
