"""Where an installed SDK comes from: the sources that it was built from, its packages, its libraries, their licences.

What no file says is unknown (None), and never a guess.
"""
