"""The smallest SDK: what an application needs for its GPUs, and nothing else."""
