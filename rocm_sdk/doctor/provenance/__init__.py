"""The sources of an installed SDK: the sources that it was built from, its packages, its libraries, their licences.

A fact that no file says is unknown (None), and never a guess.
"""
