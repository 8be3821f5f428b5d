"""The use of the disk by a directory, and the bytes that become free when files lose their names in it.

Sizes are sizes of blocks. A file with several names counts once. The file becomes free with its last name, so names
that are elsewhere (uv's cache, a store) keep it.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from rocm_sdk.installed.walking import walk

_BLOCK = 512  # bytes of a block in st_blocks


class Use(NamedTuple):
    """The use of the disk by one file: its bytes, and whether all its names are in the directory."""

    size: int
    is_alone: bool
    is_directory: bool


Uses = dict[tuple[int, int], Use]  # by device and inode


class Pruned(NamedTuple):
    """The result of a change of site-packages; sizes are bytes on the disk."""

    before: int
    after: int
    freed: int
    held: int  # bytes of files that are gone here, and that names elsewhere keep
    held_files: int
    scripts: tuple[str, ...]  # names of commands that are gone
    is_changed: bool


def uses_of(directory: str) -> Uses:
    """Return the uses of all files, links and directories below a directory."""
    names: dict[tuple[int, int], int] = {}
    facts: dict[tuple[int, int], os.stat_result] = {}
    for parent, directories, files in walk(directory):
        for name in (*directories, *files):
            each = os.lstat(os.path.join(parent, name))
            key = (each.st_dev, each.st_ino)
            names[key] = names.get(key, 0) + 1
            facts[key] = each
    return {
        key: Use(each.st_blocks * _BLOCK, names[key] >= each.st_nlink, stat.S_ISDIR(each.st_mode))
        for key, each in facts.items()
    }


def compare(before: Uses, after: Uses, scripts: tuple[str, ...], *, is_changed: bool) -> Pruned:
    """Return the changes between two looks at a directory."""
    gone = [use for key, use in before.items() if key not in after and not use.is_directory]
    held = [use.size for use in gone if not use.is_alone]
    return Pruned(
        before=sum(use.size for use in before.values()),
        after=sum(use.size for use in after.values()),
        freed=sum(use.size for use in gone if use.is_alone),
        held=sum(held),
        held_files=len(held),
        scripts=scripts,
        is_changed=is_changed,
    )
