"""The order in which packages are made: the wish, the input, and a maker for wheels, a site or an estimate."""
