"""The requirements of packages, and the search for them among the files of an index."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.parser import BytesParser
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rocm_sdk.base.value_text import counted
from rocm_sdk.installed.installable_table import INSTALLABLES
from rocm_sdk_build.base.damaged import package_damage, refusing_damage
from rocm_sdk_build.base.wheel_name import wheel_name

from .rocm_selector.backend import LOADER
from .selector import read_archive_member

SELECTOR = "rocm"
LOADER_FIX = "put its wheel there (--loader where the packages are made), unless pip and uv get it from elsewhere"
_OURS = re.compile(r"rocm|rocm-profiler|rocm-sdk-(?!build$).+")  # rocm-sdk-build is part of no SDK
_DEVICE, _FAMILY = "rocm-sdk-device-", "{family}"


class IndexedFile(NamedTuple):
    """A wheel or source distribution."""

    path: Path
    project: str  # normalised
    version: str
    sha256: str
    size: int
    metadata: bytes | None  # METADATA of a wheel


class Selector(NamedTuple):
    """The choices of a selector, according to `selector.json`."""

    version: str
    families: tuple[str, ...]
    requires: tuple[Requirement, ...]  # requirements without an extra
    extras: tuple[Needed, ...]


class Needed(NamedTuple):
    """A requirement of a package."""

    extra: str  # "": the package always requires it
    requirement: Requirement


class Unmet(NamedTuple):
    """A requirement that no file meets, with the files that have it.

    The files have one cause, so they are one problem.
    """

    requirement: str  # "rocm-sdk-core==7.10.0"
    project: str  # normalised
    told: tuple[tuple[Path, str], ...]  # files and their extras, "a, b", that require it; "": the file itself does
    is_ours: bool  # the first file is a package of an SDK of ours, which can be made again
    is_certain: bool  # only the index of the file's packager can have it

    def __str__(self) -> str:
        (path, _), *others = self.told
        more = f"; {counted(len(others), 'other file')} {'require' if others[1:] else 'requires'} it too"
        return f"{path}: {self.what}{more if others else ''}"

    @property
    def what(self) -> str:
        """The text about the requirement of the first file."""
        extras = self.told[0][1]
        return f"requires {self.requirement}{extras and f' (extra {extras})'}, which is not there"


def unmet(files: Sequence[IndexedFile]) -> list[Unmet]:
    """Return the requirements that no file meets, each once, selectors first.

    Requirements of other systems than Linux are ignored.
    """
    there: dict[str, list[IndexedFile]] = {}
    for file in files:
        there.setdefault(file.project, []).append(file)
    found: dict[tuple[str, str], dict[Path, list[str]]] = {}
    facts: dict[tuple[str, str], tuple[bool, bool]] = {}
    for file in sorted(files, key=lambda file: file.project != SELECTOR):
        for needed in needs_of(file):
            name = str(canonicalize_name(needed.requirement.name))
            if _is_met(needed.requirement, there.get(name, ())):
                continue
            extras = f"[{','.join(sorted(needed.requirement.extras))}]" if needed.requirement.extras else ""
            text = f"{needed.requirement.name}{extras}{needed.requirement.specifier}"
            found.setdefault((name, text), {}).setdefault(file.path, []).append(needed.extra)
            is_certain = name in there or (name != LOADER and _is_of_packager(needed.requirement))
            facts.setdefault((name, text), (_is_ours(file), is_certain))
    return [
        Unmet(text, name, tuple((path, _listed(extras)) for path, extras in told.items()), *facts[name, text])
        for (name, text), told in found.items()
    ]


def _listed(extras: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, extras)))


def _is_met(requirement: Requirement, files: Iterable[IndexedFile]) -> bool:
    """Return whether one of the files, which all are of the project, has the version and the extras."""
    wanted = {str(canonicalize_name(each)) for each in requirement.extras}
    fitting = [file for file in files if requirement.specifier.contains(file.version, True)]
    return any(not wanted or wanted <= set(map(canonicalize_name, _all_needs(file)[0])) for file in fitting)


def _is_of_packager(requirement: Requirement) -> bool:
    """Return whether the public index has no such package.

    The package is of the SDK, has GPU code, or a local version is wanted.
    """
    name = str(canonicalize_name(requirement.name))
    devices = [device for _, _, _, device, _ in INSTALLABLES if device]
    return (
        _OURS.fullmatch(name) is not None
        or name.startswith(tuple(devices))
        or any("+" in each.version for each in requirement.specifier)
    )


def unchosen(files: Sequence[IndexedFile]) -> tuple[IndexedFile, IndexedFile] | None:
    """Return a device package that no selector of its version requires, with such a selector; None if there is none."""
    selectors = [each for each in files if each.project == SELECTOR and _is_ours(each)]
    for file in files:
        own = [each for each in selectors if each.version == file.version]
        if file.project.startswith(_DEVICE) and own:
            chosen = {canonicalize_name(needed.requirement.name) for each in own for needed in _all_needs(each)[1]}
            if file.project not in chosen:
                return file, own[0]
    return None


def needs_of(file: IndexedFile) -> Iterator[Needed]:
    """Yield the requirements of a package on Linux, for any project.

    A package for another system has none. Extras of the loader and of rocm-sdk-build, which their developers use, do
    not count.
    """
    if file.path.suffix == ".whl" and wheel_name(file.path).platform.startswith(("win", "macosx")):
        return
    environment = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    with refusing_damage(package_damage(file.path, "METADATA")):  # values that its marker compares may have no order
        needs = _all_needs(file)[1]
        always = set[str]()
        for needed in needs:
            marker = needed.requirement.marker
            is_for_users = not needed.extra or file.project not in (LOADER, "rocm-sdk-build")
            if is_for_users and (marker is None or marker.evaluate({**environment, "extra": needed.extra})):
                if not needed.extra:
                    always.add(str(needed.requirement))
                if not needed.extra or str(needed.requirement) not in always:
                    yield needed


def _is_ours(file: IndexedFile) -> bool:
    """Return whether a file is a package of an SDK; for a selector, whether it is one of ours."""
    if file.project == SELECTOR and file.metadata is None:
        return read_selector(file.path) is not None
    return _OURS.fullmatch(file.project) is not None and file.project != LOADER


def _all_needs(file: IndexedFile) -> tuple[list[str], list[Needed]]:
    """Return the extras of a package, and its requirements on all systems."""
    metadata = file.metadata
    if metadata is None:
        if file.project != SELECTOR:
            return [], []  # another source distribution decides when it is built
        if selector := read_selector(file.path):
            always = [Needed("", requirement) for requirement in selector.requires]
            return [each.extra for each in selector.extras], [*always, *selector.extras]
        with refusing_damage(package_damage(file.path, "PKG-INFO")):
            metadata = read_archive_member(file.path, "PKG-INFO") or b""
    headers = BytesParser().parsebytes(metadata)
    with refusing_damage(package_damage(file.path, "METADATA")):
        requirements = [Requirement(str(text)) for text in headers.get_all("Requires-Dist", ())]
    extras = list(map(str, headers.get_all("Provides-Extra", ())))
    return extras, [Needed(extra, each) for extra in ("", *extras) for each in requirements]


def read_selector(path: Path) -> Selector | None:
    """Return the choices of a selector's source distribution; None for another packager's.

    Raise PackagingError for a damaged source distribution.
    """
    with refusing_damage(package_damage(path, "selector.json")):
        content = read_archive_member(path, "selector.json")
        if content is None:
            return None
        document = json.loads(content)
        requires = tuple(Requirement(row) for row in document.get("requires", ()))
        families = tuple(map(str, document["families"]))
        return Selector(str(document.get("version", "")), families, requires, tuple(_extras_of(document)))


def _extras_of(document: Mapping[str, Any]) -> Iterator[Needed]:
    """Yield the requirements of the extras in `selector.json`."""
    extras, families = document["extras"], document["families"]
    for_one = {
        Requirement(row).name: Requirement(row) for rows in extras.values() for row in rows if _FAMILY not in row
    }
    for extra, rows in extras.items():
        for row in rows:
            for family in families if _FAMILY in row else [""]:
                requirement = Requirement(row.replace(_FAMILY, family.partition(":")[0]))
                # If an extra for this target alone is not for Linux, this row is not for Linux either.
                yield Needed(extra, for_one.get(requirement.name, requirement))
