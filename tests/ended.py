"""The ends of programs, for tests that look at their output."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def succeeded(command: Sequence[str | Path] | str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program that has to succeed, with options of subprocess.run."""
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)


def assert_failed(done: subprocess.CompletedProcess[str], status: int, *said: str) -> None:
    """Assert that a program ended with this status, and said each of these texts on standard error."""
    assert done.returncode == status, done
    for text in said:
        assert text in done.stderr, done.stderr


def assert_refused(done: subprocess.CompletedProcess[str], status: int, *said: str) -> None:
    """Assert that a program printed nothing, ended with this status, and said each of these texts on standard error."""
    assert done.stdout == ""
    assert_failed(done, status, *said)
