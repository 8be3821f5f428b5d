"""The files in which the kernel says what it knows: sysfs and procfs, below ROCM_SDK_ROOTFS if that is set."""

from __future__ import annotations

import os

from .files import read_beginning

_LIMIT = 1 << 16  # bytes


def kernel_path(name: str) -> str:
    """Return the path of a file or directory. name: its path without the first slash."""
    return f"{os.environ.get('ROCM_SDK_ROOTFS', '').rstrip('/')}/{name}"


def kernel_text(name: str) -> str | None:
    """Read a file, without the line break at its end. Return None if it cannot be read."""
    try:
        return read_beginning(kernel_path(name), _LIMIT).decode("utf-8", errors="backslashreplace").rstrip("\n")
    except OSError:
        return None
