"""The target that messages name where a GPU has to be named and there is none: an example, to be replaced."""

EXAMPLE_GPU = "gfx1151"
