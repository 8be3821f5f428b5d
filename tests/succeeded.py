"""Runs a program that has to succeed, for tests that look at what it printed."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def succeeded(command: Sequence[str | Path] | str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What it said; its exit status is 0. options: those of subprocess.run."""
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)
