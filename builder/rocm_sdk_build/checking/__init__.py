"""The check that packages of several machines are an SDK together: complete, consistent, installable."""
