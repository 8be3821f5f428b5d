"""The removal of directories, however deep: without recursion or growing paths, with one directory open at a time."""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Level(NamedTuple):
    """A directory that is being emptied: its name in its parent, its identity, the directories still in it."""

    name: str
    identity: tuple[int, int]
    directories: list[str]


def remove(path: str) -> None:
    """Remove a file, a symbolic link, or a directory with its content. Do nothing if there is nothing."""
    try:
        is_directory = stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    if is_directory:
        remove_directory(path)
    else:
        os.unlink(path)


def remove_directory(directory: str) -> None:
    """Remove a directory and its content, unwritable directories included. Do nothing if there is none.

    Raises NotADirectoryError for anything else, symbolic links included, and OSError if a directory is moved meanwhile.
    """
    try:
        descriptor = _open_writable(directory, None)
    except FileNotFoundError:
        return
    try:
        levels = [_level(directory, descriptor)]
        while levels:
            if levels[-1].directories:
                name = levels[-1].directories.pop()
                descriptor = _replaced(descriptor, _open_writable(name, descriptor))
                levels.append(_level(name, descriptor))
                continue
            emptied = levels.pop()
            if levels:
                descriptor = _replaced(descriptor, os.open("..", _DIRECTORY, dir_fd=descriptor))
                if _identity(descriptor) != levels[-1].identity:
                    raise OSError(errno.EBUSY, "it was moved while it was removed", directory)
                os.rmdir(emptied.name, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    os.rmdir(directory)


def _level(name: str, descriptor: int) -> _Level:
    """Remove everything except directories from an open directory.

    Return the level, with the directories that are left.
    """
    directories = []
    with os.scandir(descriptor) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for inner, is_directory in names:
        if is_directory:
            directories.append(inner)
        else:
            os.unlink(inner, dir_fd=descriptor)
    return _Level(name, _identity(descriptor), directories)


def _open_writable(name: str, parent: int | None) -> int:
    """Open a directory, and make it writable for its owner."""
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
        descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    if os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.fchmod(descriptor, stat.S_IRWXU)
    return descriptor


def _replaced(old: int, new: int) -> int:
    os.close(old)
    return new


def _identity(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino
