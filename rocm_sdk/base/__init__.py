"""The base of all layers above: texts, files, directories, scratch space, and the start of programs.

Nothing here knows what an SDK is. The modules import next to nothing, since scripts often call commands that use them.
"""
