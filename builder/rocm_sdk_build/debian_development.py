"""Chooses what of Debian's -dev packages becomes the development tree, and makes their files fit its layout."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from .artifacts.globs import matches
from .artifacts.rules import PrefixRules, read_rules
from .debian_rules import SKIPPED
from .plan import DevelopmentFile, PlannedLibrary
from .prefix.layout import is_skipped, place_of, rewritten


def plan_development(packages: Iterable[Path], libraries: Iterable[PlannedLibrary]) -> tuple[DevelopmentFile, ...]:
    """The files of unpacked `packages`, and links to `libraries`, whose runtime wheels hold them; by place."""
    libraries = list(libraries)
    rules = read_rules().prefix
    # Debian's files name libraries with their full version; a wheel has each under its SONAME.
    sonames = {library.found.path.name: library.found.facts.soname for library in libraries}
    files = [file for package in packages for file in _files(package / "usr", sonames, rules)]
    files += map(_runtime_link, libraries)
    return tuple(sorted(files))


def _files(directory: Path, sonames: dict[str, str], rules: PrefixRules) -> Iterator[DevelopmentFile]:
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        place = place_of(rules, name)
        if is_skipped(rules, place) or matches(place, SKIPPED) or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            yield DevelopmentFile(PurePosixPath(place), link=str(path.readlink()))
        else:
            is_program = bool(path.stat().st_mode & stat.S_IXUSR)
            content = path.read_bytes()
            if (changed := rewritten(rules, place, place != name, content)) is not None:
                content = _with_sonames(changed, sonames)
            yield DevelopmentFile(PurePosixPath(place), content, is_program=is_program)


def _with_sonames(content: bytes, sonames: dict[str, str]) -> bytes:
    for name, soname in sonames.items():
        content = re.sub(rf"{re.escape(name)}(?![\w.])".encode(), soname.encode(), content)
    return content


def _runtime_link(library: PlannedLibrary) -> DevelopmentFile:
    place = PurePosixPath(*library.site_path.parts[1:])
    return DevelopmentFile(place, link=str(PurePosixPath(*[".."] * len(place.parts), library.site_path)))
