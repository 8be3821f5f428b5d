"""The shared objects of an installation, and the facts that their files contain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rocm_sdk._native import LibraryFacts, inspect_library
from rocm_sdk.base.files import NotAFileError, installed_file, is_below, read_beginning
from rocm_sdk.base.search_path import expanded
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.directory_walk import walk

from .catalog import linker_name

if TYPE_CHECKING:
    from rocm_sdk._native import Code

_FILE_NAME = re.compile(r".+\.so(\.\w+)*", re.DOTALL)  # a name may hold line breaks
_MAGIC = b"\x7fELF"
_TYPE_OFFSET, _SHARED = 16, 3  # e_type, ET_DYN, of x86-64 and aarch64, whose byte order is little-endian
_MACHINE_OFFSET, _AMD_GPU = 18, 224  # EM_AMDGPU: code for a GPU

# Linker names that other software has, too.
OF_SYSTEMS = frozenset({"", "libOpenCL.so"})

# Directories of a platform directory whose shared objects are not for programs of this machine.
_SKIPPED_PARTS = frozenset({".devel_links", ".kpack"})


@dataclass(frozen=True)
class SharedObject:
    """A library of the installation."""

    path: str
    facts: LibraryFacts | None  # None: the file cannot be used
    fault: str | None  # why it cannot be used
    code: Code | None = None  # of the fault

    @property
    def name(self) -> str:
        """The name of the file, "libamdhip64.so.7", which need not be the SONAME."""
        return os.path.basename(self.path)

    @property
    def is_sound(self) -> bool:
        """True if nothing is wrong with the file."""
        return self.facts is not None and not self.facts.damages

    @cached_property
    def search_path(self) -> str | None:
        """The library's DT_RUNPATH, or its DT_RPATH; None if it has neither or cannot be used."""
        return (self.facts.runpath or self.facts.rpath) if self.facts else None

    def foreign_entries(self, site: str) -> list[str]:
        """Return the entries of the search path that lead out of the SDK, to directories where it was built."""
        return [entry for entry, place in self._entries if not is_below(place, site)]

    def searches_in(self, site: str) -> bool:
        """Return whether an entry of the search path leads into the SDK."""
        return any(is_below(place, site) for _, place in self._entries)

    def package(self, site: str) -> str:
        """Return the platform directory of the package that has the library."""
        return os.path.join(site, os.path.relpath(self.path, site).split(os.sep)[0])

    def searches_in_other_packages(self, site: str) -> bool:
        """Return whether an entry of the search path leads to another package of the SDK."""
        own = self.package(site)
        return any(is_below(place, site) and not is_below(place, own) for _, place in self._entries)

    def finds(self, name: str) -> bool:
        """Return whether an entry of the search path has a file of this name."""
        return any(os.path.exists(os.path.join(place, name)) for _, place in self._entries)

    @property
    def _entries(self) -> list[tuple[str, str]]:
        """The entries of the search path, and where they lead; without entries that only the linker knows."""
        places = ((entry, expanded(entry, self.path)) for entry in (self.search_path or "").split(":"))
        return [(entry, os.path.normpath(place)) for entry, place in places if place]


def paths_below(directories: Iterable[str]) -> list[str]:
    """Return the files below directories that have the name of a shared object, each file once."""
    found: dict[tuple[int, int], str] = {}
    for path, identity in (each for directory in directories for each in _candidates(directory)):
        found.setdefault(identity, path)
    return list(found.values())


def inspected(paths: Iterable[str]) -> tuple[SharedObject, ...]:
    """Return the files that are shared objects for the host, or should be, by path."""
    found = (inspect(path) for path in paths if _FILE_NAME.fullmatch(os.path.basename(path)))
    return tuple(
        sorted((each for each in found if each.is_sound or _is_library(each.path)), key=lambda each: each.path)
    )


def library_name(path: str) -> str:
    """Return the name of a library: "amdhip64" for "/x/libamdhip64.so.7"."""
    return linker_name(os.path.basename(path)).removeprefix("lib").removesuffix(".so") or os.path.basename(path)


def _candidates(directory: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for root, directories, names in walk(directory):
        directories[:] = sorted(name for name in directories if name not in _SKIPPED_PARTS)
        for name in sorted(names):
            path = os.path.join(root, name)
            if _FILE_NAME.fullmatch(name) and not _is_alias(path) and (facts := _stat(path)):
                yield path, (facts.st_dev, facts.st_ino)


def _is_alias(path: str) -> bool:
    """Return whether a path is a second name that the packager gave to a file."""
    return os.path.islink(path) and installed_file(path) == path


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _is_library(path: str) -> bool:
    """Return whether a file should be a shared object for the host: neither a linker script nor code for a GPU."""
    try:
        head = read_beginning(path, 20)
    except NotAFileError:
        return False
    except OSError:
        return True
    if head[:4] != _MAGIC:
        return not head.startswith((b"/*", b"INPUT", b"GROUP"))  # a linker script
    return not (len(head) == 20 and head[_MACHINE_OFFSET] == _AMD_GPU and head[_TYPE_OFFSET] == _SHARED)


def inspect(path: str) -> SharedObject:
    """Return the facts of a library or program."""
    try:
        return SharedObject(path, inspect_library(path, True), None)
    except RocmSdkError as error:
        return SharedObject(path, None, error.message, error.code)
