"""The ground of all layers above: texts, files, directories, scratch space, and the start of programs.

Nothing here knows what an SDK is. The modules import next to nothing: commands that scripts call often pass through.
"""
