"""The proof of a closure, in a root that has nothing else."""
