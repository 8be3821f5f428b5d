"""Benchmarks: how fast the package is beside a reference that is measured in the same run, in turn. `make bench`."""
