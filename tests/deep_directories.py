"""Directories that lie in each other deeper than any path may be, with a file in each."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocm_sdk.base.removal import remove_directory


def make_deep(directory: Path, depth: int) -> None:
    """Make a chain of directories with a file in each, longer than any path may be."""
    directory.mkdir(parents=True)
    descriptor = os.open(directory, os.O_RDONLY)
    for _ in range(depth):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        os.mkdir("directory", dir_fd=descriptor)
        inner = os.open("directory", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)


@contextmanager
def deep_directory(directory: Path, depth: int) -> Iterator[Path]:
    """Yield a chain of directories for the time of a block.

    The code that removes the directories of tests calls itself for each level, and would fail.
    """
    try:
        make_deep(directory, depth)
        yield directory
    finally:
        remove_directory(str(directory))
