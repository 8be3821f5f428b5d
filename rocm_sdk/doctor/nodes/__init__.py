"""The reports of many nodes: what a node says about itself, the names of reports, and the comparison of a cluster's."""
