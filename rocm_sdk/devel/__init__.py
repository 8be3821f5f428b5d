"""The development tree: `rocm-sdk-devel`'s archive, expanded in site-packages, and kept in step with its neighbours.

A file a subject; `prepare` is where they come together. Everything that changes a tree does so under the lock of
`lock`, in the staging directory of `staging`, and shows its work by a rename.
"""
