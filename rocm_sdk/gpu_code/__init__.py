"""GPU code: finds it in files, also of wheels, zip files and tar archives, which are not unpacked.

What a file or an archive says of itself is hostile: sizes, places and names are checked before they are used.
"""
