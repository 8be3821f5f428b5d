"""Whether packages that several machines made are an SDK together: complete, consistent, installable."""
