"""The programs of the system that write images: where they are, and which packages have them.

The programs get the environment without variables that would change their output, and a scratch directory for their
temporary files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base import processes
from rocm_sdk_build.base.errors import PackagingError

# Program -> the package of Debian and Fedora that has it.
_PACKAGES = {
    "mksquashfs": "squashfs-tools",
    "mkfs.erofs": "erofs-utils",
    "skopeo": "skopeo",
    "umoci": "umoci",
    "buildah": "buildah",
}
_CHANGING = ("SOURCE_DATE_EPOCH",)  # mksquashfs refuses its own options for times if the variable is set
# Becomes a program that the kernel kills when this process, whose number argv has, dies: PR_SET_PDEATHSIG of prctl(2).
_ENDING_WITH_US = """
import ctypes, os, signal, sys
from rocm_sdk.base import processes
ctypes.CDLL(None).prctl(1, ctypes.c_ulong(signal.SIGKILL), *[ctypes.c_ulong(0)] * 3)
if os.getppid() == int(sys.argv[1]):
    processes.become(sys.argv[2:], dict(os.environb))
"""
_SHOWN = 1000  # letters of a program's output


class ImageError(PackagingError):
    """The error of a program that writes images; `told` is the program's message."""

    def __init__(self, program: str, told: str) -> None:
        super().__init__(
            f"{program} fails: {told}", "is there room for the image? the message of the program says more"
        )
        self.told = told


class Program(NamedTuple):
    """A program that was found."""

    path: str
    scratch: Path  # directory for temporary files

    def run(self, *words: str | Path, reading: Callable[[int], None] | None = None) -> str:
        """Run the program; return its output.

        `reading` is told every half second how many bytes the program has read, including its own libraries. Raise
        ImageError if the program fails.
        """
        environment = {key: value for key, value in os.environ.items() if key not in _CHANGING}
        environment |= {"TMPDIR": str(self.scratch), "LC_ALL": "C"}
        command = processes.own_code(_ENDING_WITH_US, str(os.getpid()), self.path, *map(str, words))
        watch = (lambda each: reading(processes.number_of(each, "io", "rchar:"))) if reading is not None else None
        done = processes.run(command, watch=watch, base=environment)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip())[-_SHOWN:] or f"exit status {done.returncode}"
            raise ImageError(os.path.basename(self.path), said)
        return done.stdout.strip()


def has_program(name: str) -> bool:
    """Return whether this system has a program."""
    return _place_of(name) is not None


def find_program(*names: str) -> None:
    """Raise PackagingError if this system lacks one of the programs."""
    if lacking := [name for name in names if not has_program(name)]:
        packages = " ".join(_PACKAGES[name] for name in lacking)
        fix = f"install it: apt-get install {packages}, or dnf install {packages}"
        raise PackagingError(f"{', '.join(lacking)}: not found", fix)


def program(name: str, scratch: Path) -> Program:
    """Return a program.

    Raise PackagingError if this system lacks it.
    """
    find_program(name)
    return Program(str(_place_of(name)), scratch)


def _place_of(name: str) -> str | None:
    return processes.find_program(name, "/usr/sbin", "/sbin")
