"""Benchmarks: how fast the package is beside a reference that is measured in the same run, in turn. `make bench`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))  # for the sample machine of the tests
