"""Scratch directories of rocm-sdk-build: beside what is written, with names of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocm_sdk.base import scratch

from .named_directory import output_directory

PREFIX = ".rocm-sdk-build-"


@contextmanager
def scratch_directory(place: Path) -> Iterator[Path]:
    """A new directory in `place`, which is made as `output_directory` makes it. Unused directories there are removed
    first."""
    with output_directory(place), scratch.scratch_directory(place, PREFIX) as made:
        yield made
