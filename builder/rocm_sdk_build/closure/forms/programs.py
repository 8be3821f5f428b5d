"""The programs of the system that write images: where they are, and what to install where they are not.

They get the environment without what would change their output, and a scratch directory for their temporary files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError

# Program -> the package of Debian and Fedora that has it.
_PACKAGES = {
    "mksquashfs": "squashfs-tools",
    "mkfs.erofs": "erofs-utils",
    "skopeo": "skopeo",
    "umoci": "umoci",
    "buildah": "buildah",
}
_CHANGING = ("SOURCE_DATE_EPOCH",)  # mksquashfs refuses its own options for times where it is set
_SHOWN = 1000  # letters of what a program says


class ImageError(PackagingError):
    """A program that writes images failed. told is what it said."""

    def __init__(self, program: str, told: str) -> None:
        super().__init__(
            f"{program} fails: {told}", "is there room for the image? the message of the program says more"
        )
        self.told = told


class Program(NamedTuple):
    """A program that was found."""

    path: str
    scratch: Path  # for temporary files

    def run(self, *words: str | Path) -> str:
        """Runs it; returns what it prints. ImageError if it fails."""
        environment = {key: value for key, value in os.environ.items() if key not in _CHANGING}
        done = subprocess.run(
            [self.path, *map(str, words)],
            env=environment | {"TMPDIR": str(self.scratch), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            told = (done.stderr.strip() or done.stdout.strip())[-_SHOWN:] or f"exit status {done.returncode}"
            raise ImageError(os.path.basename(self.path), told)
        return done.stdout.strip()


def has_program(name: str) -> bool:
    """Whether this system has it."""
    return _place_of(name) is not None


def find_program(*names: str) -> None:
    """PackagingError if this system lacks one of them."""
    if lacking := [name for name in names if not has_program(name)]:
        packages = " ".join(_PACKAGES[name] for name in lacking)
        fix = f"install it: apt-get install {packages}, or dnf install {packages}"
        raise PackagingError(f"{', '.join(lacking)}: not found", fix)


def program(name: str, scratch: Path) -> Program:
    """A program that is there."""
    find_program(name)
    return Program(str(_place_of(name)), scratch)


def _place_of(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
