"""Takes GPU code apart: bundles, code objects, kernels, and the note of a rewritten file."""
