"""The smallest SDK: the files that an application needs for its GPUs, and nothing else."""
