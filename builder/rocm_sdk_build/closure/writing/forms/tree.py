"""The directory of a closure as images take it: in a fixed order, with modes that do not depend on this machine."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.digest import sha256_of

# Writer of a form: closure's directory, output, scratch directory, receiver of the number of the directory's bytes that
# have been read -> the bytes of the output.
Writer = Callable[[Path, Path, Path, Wait], int]


def normalise(directory: Path) -> None:
    """Give files and directories modes that depend on nothing except whether a file is a program."""
    for path in [directory, *in_order(directory)]:
        if not path.is_symlink():
            is_open = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_open else 0o644)


def in_order(directory: Path) -> list[Path]:
    """Return all paths below a directory, each directory before its members."""
    return sorted(directory.rglob("*"), key=lambda path: path.parts)


def digest_of(directory: Path) -> bytes:
    """Return the SHA-256 of a directory's names, modes, links and content."""
    found = hashlib.sha256()
    for path in in_order(directory):
        found.update(f"{path.relative_to(directory)}\0{path.lstat().st_mode}\0".encode())
        if path.is_symlink():
            found.update(os.readlink(path).encode())
        elif path.is_file():
            found.update(sha256_of(path).digest())
    return found.digest()


def size_of(directory: Path) -> int:
    """Return the sum of the sizes of a directory's files."""
    return sum(_sizes(directory))


def _sizes(directory: Path) -> Iterator[int]:
    for parent, _, names in walk(directory):
        yield from (os.lstat(os.path.join(parent, name)).st_size for name in names)
