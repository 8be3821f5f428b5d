"""The check that packages of several machines together are an SDK: complete, consistent, installable."""
