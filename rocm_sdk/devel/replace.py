"""The replacement of files and directories of site-packages in one step.

New ones are made in a staging directory and renamed.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rocm_sdk.base.inside import parent_inside
from rocm_sdk.base.moves import exchange
from rocm_sdk.base.removal import remove, remove_directory

from .layout import STAGING_PREFIX, find_leftovers


@contextmanager
def staging_directory(site: str) -> Iterator[str]:
    """Yield a new directory in `site`, which is removed at the end with its content.

    The function is only for the holder of the lock: it also removes what a killed writer has left.
    """
    for leftover in find_leftovers(site):
        remove(leftover)
    directory = tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=site)
    try:
        yield directory
    finally:
        remove_directory(directory)


def replace_directory(staged: str, target: str) -> None:
    """Move the directory `staged` to `target` in one step; afterwards `staged` is the directory that was there before.

    If the file system has no exchange, or holds the old directory in a lower layer (overlayfs), the old one is moved
    away or removed first.
    """
    if not os.path.lexists(target):
        os.rename(staged, target)
        return
    with suppress(OSError):
        exchange(staged, target)
        return
    try:
        os.rename(target, f"{staged}.old")
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        remove_directory(target)
    os.rename(staged, target)


def replace_file(path: str, data: bytes, staging: str, mode: int = 0o666) -> os.stat_result:
    """Write a new file with `data` to `path` in one step, through a staging directory. Return its fstat result.

    The data is on the disk before the name: a power cut leaves the old file or the new one.
    """
    temporary, facts = _new_file(data, staging, mode)
    os.rename(temporary, path)
    return facts


def replace_note(tree: str, name: str, data: bytes, staging: str) -> None:
    """Write one of our notes in a tree in one step; another program may have replaced its directory with a link."""
    temporary, _ = _new_file(data, staging, 0o666)
    with parent_inside(tree, name) as (parent, last):
        os.rename(temporary, last, dst_dir_fd=parent)


def _new_file(data: bytes, staging: str, mode: int) -> tuple[str, os.stat_result]:
    temporary = f"{staging}/new-file"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
        return temporary, os.fstat(descriptor)
