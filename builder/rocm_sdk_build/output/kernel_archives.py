"""The check that packages have the kernel archives that libraries name: without an archive, no GPU runs its kernels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import rocm_sdk

_TARGET, _ENDING = "@GFXARCH@", ".kpack"


class LostArchive(NamedTuple):
    """A library, and the first archive that it names (".kpack/blas_lib_@GFXARCH@.kpack"): no package has it."""

    library: Path
    named: str

    @property
    def what(self) -> str:
        """The half sentence about the package of the library."""
        return f"has {self.library.name}, whose kernels are in {self.named}: no device package has such an archive"


FIX = "make the device packages with the artifacts that have these archives, or leave the library out"


def lost_archives(files: Iterable[Path], device_files: Iterable[Path]) -> list[LostArchive]:
    """Return the libraries among `files` that name archives which are there for no target.

    Return [] if there is no archive at all: then no device package is there. `files` are the files of the packages for
    all GPUs, and `device_files` the files of all device packages, where all are installed together. Device packages may
    be gone already.
    """
    archives = {os.path.normpath(path) for path in device_files if path.name.endswith(_ENDING)}
    if not archives:
        return []
    found = []
    for path in files:
        if ".so" in path.name and path.is_file() and not path.is_symlink():
            named = _named_by(path)
            if named and not any(_pattern(path, each).fullmatch(other) for each in named for other in archives):
                found.append(LostArchive(path, _name_of(path, named[0])))
    return found


def _name_of(library: Path, named: str) -> str:
    """Return the path of an archive below the package's directory."""
    place = os.path.normpath(library.parent / named)
    return place[place.rfind("/.kpack/") + 1 :] if "/.kpack/" in place else named


def _named_by(library: Path) -> tuple[str, ...]:
    try:
        return rocm_sdk.device_code(library).kpack_paths
    except rocm_sdk.RocmSdkError:
        return ()  # the file holds no GPU code, or `test` tells its fault


def _pattern(library: Path, named: str) -> re.Pattern[str]:
    place = os.path.normpath(library.parent / named)
    return re.compile(".+".join(map(re.escape, place.split(_TARGET))))
