"""Reading files that may be anything: a pipe in place of a file must not stop the test, nor a device fill memory."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO


class NotAFileError(OSError):
    """Something else than a regular file."""


def open_file(path: str) -> BinaryIO:
    """Opens a regular file; NotAFileError for anything else, another OSError where it cannot be opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFileError(0, "it is not a regular file", path)
    return open(descriptor, "rb")


def read_beginning(path: str, limit: int) -> bytes:
    """The first `limit` bytes of a regular file; errors as of open_file."""
    with open_file(path) as file:
        return file.read(limit)
