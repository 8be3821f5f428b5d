"""The benchmarks (`make bench`): the package beside a reference that is measured in the same run, in turn."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))  # the sample machine of the tests
