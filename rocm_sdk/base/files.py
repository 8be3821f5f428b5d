"""The readers of files that may be anything: a pipe instead of a file must not block, a device not fill the memory."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_CHUNK = 1 << 20  # bytes
_KERNEL_LIMIT = 1 << 16  # bytes


class NotAFileError(OSError):
    """The error for a path that is not a regular file."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", path)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_file(path: str) -> BinaryIO:
    """Open a regular file. Raise NotAFileError for anything else, another OSError if it cannot be opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFileError(path)
    return open(descriptor, "rb")


def read_beginning(path: str, limit: int) -> bytes:
    """Read the first `limit` bytes of a regular file. Raise the errors of open_file."""
    with open_file(path) as file:
        return beginning_of(file, limit)


def beginning_of(file: BinaryIO, limit: int) -> bytes:
    """Read the next `limit` bytes of a file. Unlike read(limit), take memory only for the bytes that are there."""
    chunks = []
    while limit > 0 and (chunk := file.read(min(limit, _CHUNK))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def installed_file(path: str) -> str:
    """Return the file that an installed path stands for.

    uv installs absolute links into its cache (--link-mode symlink), which are followed. Relative links are the
    packager's, and stay as they are.
    """
    try:
        return os.path.realpath(path) if os.path.isabs(os.readlink(path)) else path
    except OSError:  # no link, or gone
        return path


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file, in chunks."""
    while chunk := file.read(_CHUNK):
        yield chunk


def names_in(directory: str) -> list[str]:
    """Return the names in a directory, sorted; [] if it cannot be listed."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is the directory, or in it. Both are normalised."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def kernel_path(name: str) -> str:
    """Return the path of a file of the kernel, below ROCM_SDK_ROOTFS if that is set. name: without the first slash."""
    return f"{os.environ.get('ROCM_SDK_ROOTFS', '').rstrip('/')}/{name}"


def kernel_text(name: str) -> str | None:
    """Read a file of the kernel, without the line break at its end. Return None if it cannot be read."""
    try:
        return read_beginning(kernel_path(name), _KERNEL_LIMIT).decode("utf-8", errors="backslashreplace").rstrip("\n")
    except OSError:
        return None
