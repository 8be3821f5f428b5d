"""The development tree: the archive of `rocm-sdk-devel`, extracted into site-packages, and kept up to date there.

`make_ready` is the entry: it calls `extract` (archive to tree) or `update` (links, RECORD and stamp of a tree). Whoever
changes a tree holds the lock of `lock`, works in a staging directory and publishes the result by a rename (`replace`).
`verify` compares a tree with its manifest and changes nothing.
"""
