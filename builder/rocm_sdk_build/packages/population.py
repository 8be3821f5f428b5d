"""The files of a runtime package: one file for each library, under its SONAME, and no links.

pip keeps no links, so each would be a copy. A link to a library under its SONAME is that library; other names of the
library are left to the development tree. A link to a program becomes a small program that starts it, and so does a link
to a script in another directory: rocm-smi's modules lie beside the script.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.catalog import Artifact, Entry, is_same_file
from rocm_sdk_build.inputs.file_kind import Kind, look_at
from rocm_sdk_build.inputs.globs import is_selected, matches

from .package import PlacedFile


class Population(NamedTuple):
    """The files of a package and the other names of its libraries."""

    files: dict[str, PlacedFile]
    aliases: dict[str, str]  # path of another name of a library -> its SONAME


def populate(
    artifacts: Iterable[Artifact],
    includes: Iterable[str] = (),
    excludes: Iterable[str] = (),
    linker_names: Iterable[str] = (),
    by_soname: bool = True,
) -> Population:
    """Return the files of a package from its artifacts.

    With `by_soname` there is one file for each library; device packages have all names. `linker_names` are patterns of
    the libraries that the package has without version, too.

    Raise PackagingError if two artifacts have different files for one path, or one has a directory where the other has
    a file, or libraries share a SONAME.
    """
    building = _Building(tuple(includes), tuple(excludes), by_soname)
    for artifact in artifacts:
        for entry in artifact.entries:
            building.take(artifact, entry)
    for path, file in building.others.items():
        building.files.setdefault(path, file)  # nothing calls the library by the SONAME: programs could not find it
    globs = tuple(linker_names)
    for path, file in list(building.files.items()):
        stem, suffix, _ = path.partition(".so.")
        if suffix and any(matches(path, glob) for glob in globs):
            building.aliases.pop(f"{stem}.so", None)
            building.files.setdefault(f"{stem}.so", file._replace(path=f"{stem}.so"))
    for path in sorted(building.files.keys() & building.directories.keys()):
        source, directory = building.files[path].source, building.directories[path]
        raise PackagingError(f"{source} is a file and {directory} a directory, and both go to one place: {path}")
    return Population(building.files, building.aliases)


def _is_script(path: Path) -> bool:
    """Return whether the kernel starts the file by an interpreter.

    A script of another directory finds modules beside itself.
    """
    with path.open("rb") as file:
        return file.read(2) == b"#!" and os.access(path, os.X_OK)


class _Building:
    def __init__(self, includes: tuple[str, ...], excludes: tuple[str, ...], by_soname: bool) -> None:
        self.includes, self.excludes, self.by_soname = includes, excludes, by_soname
        self.files: dict[str, PlacedFile] = {}
        self.aliases: dict[str, str] = {}
        self.directories: dict[str, Path] = {}
        self.claims: dict[str, Path] = {}  # place of a library -> its file
        self.others: dict[str, PlacedFile] = {}  # place of a library that has no file under its SONAME

    def take(self, artifact: Artifact, entry: Entry) -> None:
        if entry.kind == "directory":
            self.directories.setdefault(entry.path, entry.source)
        elif not is_selected(entry.path, self.includes, self.excludes):
            return
        elif entry.kind == "link":
            self._take_link(artifact, entry)
        else:
            self._take_file(entry.path, entry.source)

    def _take_link(self, artifact: Artifact, entry: Entry) -> None:
        target = Path(os.path.realpath(entry.source))
        inside = any(target.is_relative_to(Path(os.path.realpath(root))) for root in artifact.roots)
        if not inside or not target.is_file():
            return  # the link leads to a directory, or into another artifact, which has its own
        facts = look_at(target)
        is_program = facts.kind in (Kind.PROGRAM, Kind.STATIC) or ("/" in entry.link and _is_script(target))
        if is_program and self.by_soname:
            self._add(PlacedFile(entry.path, target, facts, entry.link))
        else:
            self._take_file(entry.path, target)

    def _take_file(self, path: str, source: Path) -> None:
        facts = look_at(source)
        place = PurePosixPath(path)
        if not (self.by_soname and facts.soname):
            self._add(PlacedFile(path, source, facts))
            return
        right = str(place.parent / facts.soname)
        other = self.claims.setdefault(right, source)
        if os.path.realpath(other) != os.path.realpath(source) and not is_same_file(other, source):
            raise PackagingError(
                f"{other} and {source} are different, and both have the SONAME {facts.soname}",
                "leave one of them out, or put them into different directories",
            )
        if place.name == facts.soname:
            self._add(PlacedFile(path, source, facts))
        else:
            self.aliases[path] = facts.soname
            self.others.setdefault(right, PlacedFile(right, source, facts))

    def _add(self, file: PlacedFile) -> None:
        other = self.files.setdefault(file.path, file)
        is_other = other.source != file.source or other.link != file.link
        if is_other and (other.link or file.link or not is_same_file(other.source, file.source)):
            raise PackagingError(f"{other.source} and {file.source} are different, and go to one place: {file.path}")
