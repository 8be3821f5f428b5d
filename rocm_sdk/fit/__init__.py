"""Which GPU code is in which file, and whether a file, a package or an SDK fits this machine and its GPUs."""
