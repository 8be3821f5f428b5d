"""The staging directory: a writer works in it, on the file system of its target, and shows the result by a rename."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from .layout import STAGING_PREFIX, find_leftovers

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def staging(site: str) -> Iterator[str]:
    """A new directory in `site`, removed in the end with what is left in it. Only for the holder of the lock: removes
    what a writer that was killed has left.
    """
    for leftover in find_leftovers(site):
        remove_directory(leftover)
    directory = tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=site)
    try:
        yield directory
    finally:
        remove_directory(directory)


def remove_directory(directory: str) -> None:
    """Removes a directory and all in it, directories that were made unwritable too; nothing there is fine."""
    if not os.path.isdir(directory):
        return
    try:
        shutil.rmtree(directory)
    except PermissionError:
        for parent, _, _ in os.walk(directory):
            os.chmod(parent, stat.S_IRWXU)
        shutil.rmtree(directory)


def put_directory(staged: str, target: str) -> None:
    """Moves the directory `staged` to `target` in one step; what was there before is in `staged` after it.

    Where the file system knows no exchange, or holds the old directory in a lower layer (overlayfs), the old one goes
    first.
    """
    if not os.path.lexists(target):
        os.rename(staged, target)
        return
    if _exchange(staged, target):
        return
    try:
        os.rename(target, f"{staged}.old")
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        remove_directory(target)
    os.rename(staged, target)


def write_file(path: str, data: bytes, scratch: str, mode: int = 0o666) -> os.stat_result:
    """Puts a new file with `data` at `path`, at once; returns what fstat says of it. `scratch`: a staging directory."""
    temporary = f"{scratch}/new-file"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        facts = os.fstat(descriptor)
    os.rename(temporary, path)
    return facts


def sync_file_system(path: str) -> None:
    """Waits until everything written to the file system of `path` is on its disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(descriptor)


def _exchange(one: str, other: str) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return hasattr(libc, "renameat2") and bool(libc.renameat2(*arguments) == 0)
