"""Runs the C tests (tests/c, tests/embed) in their plain gcc build, so that `make test` covers them too.

`make test-c` adds clang, `make sanitize` AddressSanitizer and UBSan.
"""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_c_suite() -> None:
    # A make above this one would pass its own flags and job server on.
    makes_own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in makes_own}
    run = subprocess.run(
        ["make", "test-c", "VARIANTS=gcc"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "[  PASSED  ]" in run.stderr + run.stdout, run.stdout + run.stderr
