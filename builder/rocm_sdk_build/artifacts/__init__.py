"""SDK packages from a ROCm build's artifacts, under the names and from the inputs of the established packager."""
