"""Programs that run to their end, for tests that look at their output."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def completed(command: Sequence[str | Path] | str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program with options of subprocess.run, and return its output and its status, whatever that is."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)
