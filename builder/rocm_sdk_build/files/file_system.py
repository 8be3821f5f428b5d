"""The type of the file system of a directory or file, according to the kernel's list of this process's mounts."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


def type_of_file_system(path: Path) -> str:
    """Return the type by the name that mount uses, such as "ext4" or "overlay"; "" if /proc does not say."""
    directory = path if path.is_dir() else path.parent
    return _types().get(directory.stat().st_dev, "")


@cache
def _types() -> dict[int, str]:
    """Return the type of the file system of each device; {} if /proc does not say.

    overlayfs may give files, and not directories, the devices of its layers.
    """
    found: dict[int, str] = {}
    try:
        with Path("/proc/self/mountinfo").open(encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                own, _, other = line.partition(" - ")
                major, _, minor = own.split()[2].partition(":")
                found[os.makedev(int(major), int(minor))] = other.split()[0]
    except (OSError, ValueError, IndexError):
        return {}
    return found
