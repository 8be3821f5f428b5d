"""Scratch directories of rocm-sdk-build: beside the output, with names of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocm_sdk.base import scratch

from .named_directory import output_directory

PREFIX = ".rocm-sdk-build-"


@contextmanager
def scratch_directory(place: Path) -> Iterator[Path]:
    """Yield a new directory in `place`, which is made as `output_directory` makes it.

    Unused scratch directories in `place` are removed first.
    """
    with output_directory(place), scratch.scratch_directory(place, PREFIX) as made:
        yield made
