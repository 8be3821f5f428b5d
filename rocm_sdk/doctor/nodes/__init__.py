"""The reports of many nodes: what a node says of itself, names of its report, and reports of a cluster compared."""
