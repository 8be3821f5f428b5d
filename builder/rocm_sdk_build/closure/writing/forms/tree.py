"""The directory of a closure as images take it: in one order, with modes that depend on nothing of this machine."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from rocm_sdk.base.walking import walk
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.files.digest import sha256_of

# Writes a form: the closure's directory, the output, a scratch directory, what is told how many bytes of the directory
# have been read -> the bytes of the output.
Writer = Callable[[Path, Path, Path, Wait], int]


def normalise(directory: Path) -> None:
    """Modes that depend on nothing but whether a file is a program."""
    for path in [directory, *in_order(directory)]:
        if not path.is_symlink():
            is_open = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_open else 0o644)


def in_order(directory: Path) -> list[Path]:
    """All that is below a directory, a directory before what is in it."""
    return sorted(directory.rglob("*"), key=lambda path: path.parts)


def digest_of(directory: Path) -> bytes:
    """SHA-256 of names, modes, links and content."""
    found = hashlib.sha256()
    for path in in_order(directory):
        found.update(f"{path.relative_to(directory)}\0{path.lstat().st_mode}\0".encode())
        if path.is_symlink():
            found.update(os.readlink(path).encode())
        elif path.is_file():
            found.update(sha256_of(path).digest())
    return found.digest()


def size_of(directory: Path) -> int:
    """The sum of the sizes of its files."""
    return sum(_sizes(directory))


def _sizes(directory: Path) -> Iterator[int]:
    for parent, _, names in walk(directory):
        yield from (os.lstat(os.path.join(parent, name)).st_size for name in names)
