"""The way to files by names that were read from a disk, which never leaves the directory they are relative to.

Manifests, RECORDs and lists are files like any other: whoever may write them chooses the names. A name is walked part
by part; a symbolic link instead of a directory or of the file is an error.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from .files import NotAFileError, beginning_of

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

# A function that raises an exception if an opened file or directory, of this descriptor, is not to be used.
Admit = Callable[[int], None]
JSON_LIMIT = 1 << 26  # bytes: some 300,000 entries


class UnsafeNameError(ValueError):
    """The error for a name that does not name something inside a directory."""


def parts_of(name: str) -> list[str]:
    """Return the parts of a relative name.

    Raise UnsafeNameError for an absolute name, and for an empty part, . or .. .
    """
    parts = name.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in name:
        raise UnsafeNameError(f"{name!r} is not a name inside a directory")
    return parts


@contextmanager
def parent_inside(
    directory: str, name: str, *, make_mode: int | None = None, admit: Admit | None = None
) -> Iterator[tuple[int, str]]:
    """Yield the descriptor of the directory that holds `name` inside `directory`, and the last part of the name.

    make_mode: the mode of missing directories, which are made; None: none are made. admit: called with
    each directory inside. Raises UnsafeNameError, NotADirectoryError for a symbolic link, and other OSErrors.
    """
    *parents, last = parts_of(name)
    descriptor = os.open(directory, _DIRECTORY)
    try:
        for part in parents:
            if make_mode is not None:
                with suppress(FileExistsError):
                    os.mkdir(part, make_mode, dir_fd=descriptor)
            inner = _open(part, _DIRECTORY | os.O_NOFOLLOW, descriptor, f"{directory}/{name}")
            os.close(descriptor)
            descriptor = inner
            if admit is not None:
                admit(descriptor)
        yield descriptor, last
    finally:
        os.close(descriptor)


def open_inside(directory: str, name: str, admit: Admit | None = None) -> BinaryIO:
    """Open a regular file for reading. Raise the errors of parent_inside, and NotAFileError for anything else."""
    with parent_inside(directory, name, admit=admit) as (parent, last):
        descriptor = _open(last, _FILE, parent, f"{directory}/{name}")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotAFileError(f"{directory}/{name}")
        if admit is not None:
            admit(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def read_inside(directory: str, name: str, limit: int, admit: Admit | None = None) -> bytes:
    """Read a regular file. Raise the errors of open_inside, and ValueError if it is larger than `limit` bytes."""
    with open_inside(directory, name, admit) as file:
        data = beginning_of(file, limit + 1)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit} bytes")
    return data


def _open(part: str, flags: int, parent: int, whole: str) -> int:
    try:
        return os.open(part, flags, dir_fd=parent)
    except OSError as error:
        error.filename = whole
        raise


def read_json(directory: str, name: str, admit: Admit | None = None) -> Any:
    """Return the content of a JSON file inside a directory.

    Raise the errors of `read_inside`, and ValueError if it is not JSON.
    """
    import json

    try:
        return json.loads(read_inside(directory, name, JSON_LIMIT, admit))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
