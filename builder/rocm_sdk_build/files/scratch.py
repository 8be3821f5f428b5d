"""Scratch directories of rocm-sdk-build: beside what is written, with names of their own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from rocm_sdk.base import scratch

PREFIX = ".rocm-sdk-build-"


def scratch_directory(place: Path) -> AbstractContextManager[Path]:
    """A new directory in `place`, which is made if need be. Unused directories there are removed first."""
    return scratch.scratch_directory(place, PREFIX)
