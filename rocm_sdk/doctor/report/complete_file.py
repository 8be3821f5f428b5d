"""The files that get their names when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST = 10_000  # names that are tried


@contextlib.contextmanager
def complete_file(path: str, *, replaces: bool = True) -> Iterator[BinaryIO]:
    """Yield a new file, which becomes `path` at the end of the block; nothing is left of a block that fails.

    A pipe, a terminal, a device or a link to one is written to directly. Raises OSError. replaces: replace a file or
    link of that name; otherwise, if the name is taken, the new one gets a number before its ending. A file that a link
    leads to stays as it is.
    """
    stream = _standard_stream(path)
    if stream is not None or _is_special(path):
        with open(path if stream is None else os.dup(stream), "wb") as file:
            yield file
        return
    directory, name = os.path.split(os.path.abspath(path))
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    partial = f".rocm-sdk-{secrets.token_hex(8)}.partial"  # nobody can make a link of that name first
    try:
        with open(os.open(partial, _FLAGS, 0o666, dir_fd=place), "wb") as file:
            yield file
        if replaces:
            os.replace(partial, name, src_dir_fd=place, dst_dir_fd=place)
        else:
            _take_free_name(partial, name, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=place)
        raise
    finally:
        os.close(place)


def _take_free_name(partial: str, name: str, place: int) -> None:
    base, ending = os.path.splitext(name)
    for number in range(_MOST):
        wanted = f"{base}.{number}{ending}" if number else name
        with contextlib.suppress(FileExistsError):
            # We reserve the name before the file gets it: not every file system of a cluster has links.
            os.close(os.open(wanted, _FLAGS, 0o666, dir_fd=place))
            os.replace(partial, wanted, src_dir_fd=place, dst_dir_fd=place)
            return
    raise FileExistsError(errno.EEXIST, f"{_MOST} files have this name and a number", name)


def _standard_stream(path: str) -> int | None:
    """Return the stream of this process that the path leads to, such as /dev/stdout; None if it leads to none.

    The stream may be a file.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
                stream.flush()  # earlier output comes first
                return stream.fileno()
    return None


def _is_special(path: str) -> bool:
    """Return whether a path is, or leads to, something other than a file or nothing; /dev/fd/3 is a descriptor."""
    try:
        return os.path.realpath(os.path.dirname(path)).startswith("/proc/") or not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False
