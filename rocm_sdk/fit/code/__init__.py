"""The GPU code in files, also of wheels, zip files and tar archives, which are not unpacked.

The statements of a file or an archive about itself are hostile: sizes, places and names are checked before they are
used.
"""
