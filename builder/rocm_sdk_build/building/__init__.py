"""The order in which packages are made: what is wished, what there is, and a maker for wheels, a site, an estimate."""
