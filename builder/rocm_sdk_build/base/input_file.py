"""The reader of files that other programs may write or replace meanwhile.

A file that changes during the reading is refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from rocm_sdk.errors import RocmSdkError


class ChangedInputError(OSError):
    """The error for a file that changed while it was read."""


class InputFile(NamedTuple):
    """An open file, and its state at the time of opening."""

    path: str
    file: BinaryIO
    facts: os.stat_result
    place: int | None  # the directory in which the name is looked up
    sha256: str | None = None  # SHA-256 of the content in hexadecimal digits, if the caller knows it

    @property
    def descriptor(self) -> int:
        """The number of the open descriptor; ValueError after the block of open_input(), which closes the file."""
        return self.file.fileno()

    def refuse_changed(self) -> None:
        """Raise ChangedInputError if the file has changed since the opening, or another file has its name."""
        name = self.path if self.place is None else os.path.basename(self.path)
        try:
            now = os.stat(name, dir_fd=self.place, follow_symlinks=self.place is None)
        except FileNotFoundError:
            now = None
        if now is None or _identity(now) != _identity(self.facts):
            raise ChangedInputError(errno.ESTALE, "it changed while it was read; let nothing write to it", self.path)


@contextmanager
def open_input(path: str, *, place: int | None = None) -> Iterator[InputFile]:
    """Yield a regular file, open for reading without a buffer.

    `place` is a directory in which the last part of `path` is looked up; a symbolic link is not followed there.

    Raise OSError if the file cannot be opened or is not regular. If the block raises a RocmSdkError and the file has
    changed, raise ChangedInputError in its place.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    if place is None:
        descriptor = os.open(path, flags)
    else:
        try:
            descriptor = os.open(os.path.basename(path), flags | os.O_NOFOLLOW, dir_fd=place)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):  # for a directory open() names the number of the descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file; name one", path)
    with open(descriptor, "rb", buffering=0) as file:
        opened = InputFile(path, file, facts, place)
        try:
            yield opened
        except RocmSdkError:
            opened.refuse_changed()  # parts of two states may look like damage
            raise


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
