"""Tries fixes in a copy of the installation before they are shown: what is tried, where, and what it leaves."""
