"""The GPU code in files, including those in wheels, zip files and tar archives, which are not unpacked.

What a file or an archive says about itself may be hostile: sizes, places and names are checked before they are
used.
"""
