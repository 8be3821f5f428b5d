"""A package of an SDK: its names, tag and requirements, and all its files with the places from which they come."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk.base.processes import find_program
from rocm_sdk_build.code.debug_split import Debuggable, which_strip
from rocm_sdk_build.code.patchelf import Shape, which_patchelf
from rocm_sdk_build.inputs.catalog import Artifact
from rocm_sdk_build.inputs.file_kind import Facts, Kind
from rocm_sdk_build.inputs.rules import Script

from .platform_tag import Needs

DEBUG = "rocm-sdk-debug-"  # the start of the names of packages with debug information


class PlacedFile(NamedTuple):
    """A file of a package."""

    path: str  # path below the package's platform directory
    source: Path
    facts: Facts
    link: str = ""  # the text of the link that a program in its place follows


class DevelEntry(NamedTuple):
    """A member of the development tree's archive: a directory, a link with its text, or a file."""

    path: str
    kind: str  # "directory", "link", "file"
    link: str = ""
    source: Path | None = None
    text: bytes | None = None  # the content of a file whose source has another


_NO_FILES: Mapping[str, PlacedFile] = MappingProxyType({})
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_NO_DEBUG: Mapping[Path, Debuggable] = MappingProxyType({})
_NO_LICENCES: Mapping[str, Path] = MappingProxyType({})
_NO_NEEDS = Needs(frozenset(), frozenset(), {})


class Package(NamedTuple):
    """A package: the estimate, the key of a resumed build, the wheel or the site, and the test come from it alone."""

    logical_name: str
    distribution: str
    summary: str
    version: str
    pure_module: str | None  # None: the package has no module of its own
    platform_directory: str | None
    family: str | None = None
    requires: tuple[str, ...] = ()
    search: tuple[str, ...] = ()  # directories of core in which its libraries look
    own_search: tuple[str, ...] = ()  # directories of the package in which its libraries look before
    shape: Shape = Shape.RPATH
    tag: str = ""
    needs: Needs = _NO_NEEDS
    files: Mapping[str, PlacedFile] = _NO_FILES
    aliases: Mapping[str, str] = _NO_NAMES  # path of another name of a library -> its SONAME
    scripts: tuple[Script, ...] = ()  # commands, as far as their programs are among the files
    absent: tuple[str, ...] = ()  # shortnames of libraries that the package does not have
    without_stack: frozenset[str] = frozenset()  # libraries that are not to ask for an executable stack
    debug: Mapping[Path, Debuggable] = _NO_DEBUG  # files that lose their debug information, or of which it is
    tree: tuple[DevelEntry, ...] = ()
    compression: str = "none"  # of the development tree: a key of DEVEL_ARCHIVES
    licences: Mapping[str, Path] = _NO_LICENCES
    artifacts: Sequence[Artifact] = ()  # artifacts from which the package has files
    directory: str = ""  # directory below `dist`

    @property
    def file_name(self) -> str:
        """The part of a wheel's name before the version, in the one form that installers and indices expect of it."""
        return canonicalize_name(self.distribution).replace("-", "_")

    @property
    def name(self) -> str:
        """The name of the wheel without its tag."""
        return f"{self.file_name}-{self.version}"

    @property
    def wheel(self) -> str:
        """The path of the wheel below `dist`."""
        return f"{self.directory}/{self.name}-{self.tag}.whl".removeprefix("/")

    @property
    def is_debug(self) -> bool:
        """True for a package with the debug information of another one."""
        return self.logical_name == "debug"

    @property
    def sources(self) -> Iterator[Path]:
        """The files that the package has or is made of."""
        yield from (file.source for file in self.files.values())
        yield from (entry.source for entry in self.tree if entry.source is not None)
        if self.is_debug:
            yield from self.debug

    @property
    def changed(self) -> Iterator[Path]:
        """The files of which the package has copies; a file that is split becomes two."""
        yield from (file.source for file in self.files.values() if self.changes(file))
        yield from self.debug

    @property
    def programs(self) -> int:
        """The number of small programs that are compiled for the package."""
        return sum(bool(file.link) for file in self.files.values()) + sum(
            each.path in self.files for each in self.scripts
        )

    @property
    def input_files(self) -> Iterator[Path]:
        """All files that decide on the content of the wheel, those of its bill of materials and tools included."""
        yield from (*self.sources, *self.licences.values())
        yield from (entry.source for each in self.artifacts for entry in each.entries if entry.kind == "file")
        tools = (find_program(os.environ.get("CC", "cc")), which_patchelf(), which_strip() if self.debug else None)
        yield from (Path(path) for path in tools if path is not None)

    @property
    def facts(self) -> tuple[object, ...]:
        """All that decides on the content of the wheel beside files; repr() shows it, the same in each process."""
        plain = self._replace(needs=_NO_NEEDS, artifacts=(), without_stack=frozenset())
        return (*plain, sorted(self.without_stack))

    def shape_of(self, file: PlacedFile) -> Shape:
        """Return the way in which a file of the package finds libraries.

        A program starts before any loader helps, and only DT_RPATH also counts for what its libraries need.
        """
        other = self.shape if file.facts.kind is Kind.LIBRARY else Shape.NONE
        shape = Shape.RPATH if file.facts.kind is Kind.PROGRAM else other
        return shape if self.search else Shape.NONE

    def changes(self, file: PlacedFile) -> bool:
        """Return whether the package has a copy of a file: with a search path, or without something that it has."""
        changed = self.shape_of(file) is not Shape.NONE or file.source in self.debug or file.path in self.without_stack
        return not file.link and changed
