"""Mounts of tests, and the one probe whether there can be any here."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from programs import completed

_PROGRAMS = "/usr/bin:/bin:/usr/sbin:/sbin"  # a test may have another PATH
_TRY = """sh -c 'mount -t tmpfs none "$0" && umount "$0"' "$0" """


@cache
def refusal(start: str = "unshare --mount") -> str:
    """Return what this system says where a command in a mount namespace of its own cannot mount, "" where it can.

    A chroot whose root is no mount refuses it. start: "" for a mount in the namespace of the tests.
    """
    with tempfile.TemporaryDirectory() as place:
        done = completed(["/bin/sh", "-c", f"{start} {_TRY}", place], env={**os.environ, "PATH": _PROGRAMS})
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


def need_mounts(start: str = "unshare --mount") -> None:
    """Skip a test where nothing can be mounted."""
    if said := refusal(start):
        pytest.skip(f"nothing can be mounted here: {said}")


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[Path]:
    """Yield a directory, on which a file system is mounted, in the namespace of the tests."""
    need_mounts("")
    subprocess.run(["mount", *options, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)
