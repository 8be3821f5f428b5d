"""The checks of a ROCm prefix that is to be packaged.

A prefix is a hierarchy of files, perhaps below a staging directory (DESTDIR). `installed.prefix` has the prefix and its
files, these modules a check each. The subjects of the self test call them.
"""
