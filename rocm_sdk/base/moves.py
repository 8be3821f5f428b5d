"""Moves of files and directories in one step, a test for unmovable directories, and waits for the disk."""

from __future__ import annotations

import ctypes
import errno
import os

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2


def exchange(one: str, other: str) -> None:
    """Give each of two files or directories the name of the other, in one step.

    Raises OSError: EINVAL if the file system has no exchange, EXDEV if overlayfs holds a directory in a lower layer,
    ENOSYS if the C library has no renameat2 (glibc before 2.28).
    """
    _renameat2(one, other, _RENAME_EXCHANGE)


def move_to_free_name(path: str, name: str) -> None:
    """Give a file the name, which must be free until that moment.

    Raise FileExistsError if something else has it by then.
    """
    try:
        _renameat2(path, name, _RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS):  # EINVAL: a file system that only replaces, such as NFS
            raise
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC))
        try:
            os.rename(path, name)
        except OSError:
            os.unlink(name)  # ours, and empty
            raise


def _renameat2(one: str, other: str, flag: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), one, None, other)
    if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), flag) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), one, None, other)


def refusal_to_move(directory: str, obstacle: str) -> int:
    """Return the error number of renaming `directory`.

    The number is ENOTEMPTY or EEXIST if the directory could be moved, EXDEV in a lower layer.

    obstacle: a place for a directory that is not empty, on the same file system. overlayfs refuses before it looks at
    the obstacle; otherwise the error is that the obstacle is not empty. So nothing is ever renamed.
    """
    os.makedirs(os.path.join(obstacle, "content"), exist_ok=True)
    try:
        os.rename(directory, obstacle)
    except OSError as error:
        return error.errno or 0
    raise AssertionError(f"{obstacle} was empty")


def sync_directory(path: str) -> None:
    """Wait until the names in the directory `path` are on its disk."""
    _sync(path, os.O_DIRECTORY)


def sync_file(path: str) -> None:
    """Wait until the content of the file `path` is on its disk."""
    _sync(path, 0)


def _sync(path: str, flag: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flag)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(path: str) -> None:
    """Wait until everything written to the file system of `path` is on its disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(descriptor)
