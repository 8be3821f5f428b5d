"""Reads the GPU code of files that lie in wheels, zip files, tar archives and directories, without unpacking them.

What an archive says of itself is hostile: sizes, places and names are checked before they are used.
"""

from .search import code_in

__all__ = ["code_in"]
