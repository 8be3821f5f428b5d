"""Checks that an extra of the SDK's packages leads to packages that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from email.parser import BytesParser
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import package_damage, refusing_damage

from .rocm_selector.backend import LOADER
from .selector import read_selector_archive

SELECTOR = "rocm"
LOADER_FIX = "put its wheel there (--loader where the packages are made), unless pip and uv get it from elsewhere"
_OURS = re.compile(r"rocm|rocm-profiler|rocm-sdk-(?!build$).+")  # rocm-sdk-build is part of no SDK
_FAMILY = "{family}"


class IndexedFile(NamedTuple):
    """A wheel or source distribution."""

    path: Path
    project: str  # normalised
    version: str
    sha256: str
    size: int
    metadata: bytes | None  # of a wheel


class Selector(NamedTuple):
    """What a selector may choose from, as `selector.json` says."""

    version: str
    families: tuple[str, ...]
    requires: tuple[Requirement, ...]  # without an extra
    extras: tuple[Needed, ...]


class Needed(NamedTuple):
    """What a package requires."""

    extra: str  # "": always
    requirement: Requirement


def check_extras(files: Sequence[IndexedFile]) -> None:
    """PackagingError if a package of the SDK has an extra that requires one of them that is not there.

    Requirements for other systems than Linux are ignored.
    """
    for file, needed in lacking(files):
        if needed.extra:
            raise PackagingError(
                f"{file.path}: the extra {needed.extra} requires {needed.requirement}, which is not there",
                "put that package beside it, or name its directory: --root DIR",
            )


def lacking(files: Sequence[IndexedFile]) -> Iterator[tuple[IndexedFile, Needed]]:
    """The requirements of packages of the SDK, on Linux, that no package among the files meets."""
    there: dict[str, list[str]] = {}
    for file in files:
        there.setdefault(file.project, []).append(file.version)
    for file in files:
        for needed in needs_of(file):
            versions = there.get(canonicalize_name(needed.requirement.name), ())
            if not list(needed.requirement.specifier.filter(versions, True)):
                yield file, needed


def loader_needed(files: Sequence[IndexedFile]) -> tuple[Path, Requirement] | None:
    """The selector that requires the loader, and how, if no file is one: another index may have it."""
    if any(file.project == LOADER for file in files):
        return None
    found = ((file.path, needed.requirement) for file, needed in lacking(files) if not needed.extra)
    return next(((path, each) for path, each in found if canonicalize_name(each.name) == LOADER), None)


def needs_of(file: IndexedFile) -> Iterator[Needed]:
    """What a package of the SDK requires of the SDK on Linux; nothing of another package."""
    for needed in _all_needs(file):
        marker = needed.requirement.marker
        with refusing_damage(package_damage(file.path, "METADATA")):  # what its marker compares may have no order
            is_wanted = marker is None or marker.evaluate(
                {"extra": needed.extra, "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
            )
        if is_wanted and _OURS.fullmatch(canonicalize_name(needed.requirement.name)):
            yield needed


def _all_needs(file: IndexedFile) -> Iterator[Needed]:
    if file.project == SELECTOR and file.metadata is None:
        if selector := read_selector(file.path):
            yield from (Needed("", requirement) for requirement in selector.requires)
            yield from selector.extras
    elif file.metadata is not None and _OURS.fullmatch(file.project):
        metadata = BytesParser().parsebytes(file.metadata)
        with refusing_damage(package_damage(file.path, "METADATA")):
            requirements = [Requirement(str(text)) for text in metadata.get_all("Requires-Dist", ())]
        extras = list(map(str, metadata.get_all("Provides-Extra", ())))
        for each in requirements:
            named = [extra for extra in extras if each.marker is not None and f'"{extra}"' in str(each.marker)]
            yield from (Needed(extra, each) for extra in named or ("",))


def read_selector(path: Path) -> Selector | None:
    """What the source distribution of a selector says; None of another packager's. PackagingError for a damaged one."""
    with refusing_damage(package_damage(path, "selector.json")):
        document = read_selector_archive(path)
        if document is None:
            return None
        requires = tuple(Requirement(row) for row in document.get("requires", ()))
        families = tuple(map(str, document["families"]))
        return Selector(str(document.get("version", "")), families, requires, tuple(_extras_of(document)))


def _extras_of(document: Mapping[str, Any]) -> Iterator[Needed]:
    """What `selector.json` says."""
    extras, families = document["extras"], document["families"]
    for_one = {
        Requirement(row).name: Requirement(row) for rows in extras.values() for row in rows if _FAMILY not in row
    }
    for extra, rows in extras.items():
        for row in rows:
            for family in families if _FAMILY in row else [""]:
                requirement = Requirement(row.replace(_FAMILY, family.partition(":")[0]))
                # Where an extra for this target alone is not for Linux, neither is this one.
                yield Needed(extra, for_one.get(requirement.name, requirement))
