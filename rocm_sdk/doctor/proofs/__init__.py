"""The tries of fixes in a copy of the installation before they are shown: which fixes, where, and their results."""
