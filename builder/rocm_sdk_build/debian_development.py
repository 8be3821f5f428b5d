"""Chooses what of Debian's -dev packages becomes the development tree, and makes their files fit its layout."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from .debian_rules import PLACES, REWRITES
from .plan import DevelopmentFile, PlannedLibrary


def plan_development(packages: Iterable[Path], libraries: Iterable[PlannedLibrary]) -> tuple[DevelopmentFile, ...]:
    """The files of unpacked `packages`, and links to `libraries`, whose runtime wheels hold them; by place."""
    libraries = list(libraries)
    # Debian's files name libraries with their full version; a wheel has each under its SONAME.
    sonames = {library.found.path.name: library.found.facts.soname for library in libraries}
    files = [file for package in packages for file in _files(package / "usr", sonames)]
    files += map(_runtime_link, libraries)
    return tuple(sorted(files))


def _files(directory: Path, sonames: dict[str, str]) -> Iterator[DevelopmentFile]:
    for path in sorted(directory.rglob("*")):
        place = _place(path.relative_to(directory).as_posix())
        if place is None or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            yield DevelopmentFile(place, link=str(path.readlink()))
        else:
            is_program = bool(path.stat().st_mode & stat.S_IXUSR)
            yield DevelopmentFile(place, _rewritten(place, path.read_bytes(), sonames), is_program=is_program)


def _place(name: str) -> PurePosixPath | None:
    """The path in the tree; None: the file is skipped."""
    for row in PLACES:
        if match := re.match(row.debian, name):
            return PurePosixPath(row.tree + name[match.end() :]) if row.tree else None
    return PurePosixPath(name)


def _rewritten(place: PurePosixPath, content: bytes, sonames: dict[str, str]) -> bytes:
    rows = [row for row in REWRITES if fnmatchcase(str(place), row.files)]
    if not rows:
        return content
    text = content.decode("utf-8")
    for row in rows:
        text = re.sub(row.pattern, row.replacement, text)
    for name, soname in sonames.items():
        text = re.sub(rf"{re.escape(name)}(?![\w.])", soname, text)
    return text.encode("utf-8")


def _runtime_link(library: PlannedLibrary) -> DevelopmentFile:
    place = PurePosixPath(*library.site_path.parts[1:])
    return DevelopmentFile(place, link=str(PurePosixPath(*[".."] * len(place.parts), library.site_path)))
