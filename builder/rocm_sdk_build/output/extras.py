"""Checks that an extra of the SDK's packages leads to packages that are there."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from email.parser import BytesParser
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.damaged import package_damage, read_small, refusing_damage

_SELECTOR = "rocm"
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


class _Extra(NamedTuple):
    """What an extra requires."""

    name: str
    requirement: Requirement


def check_extras(files: Sequence[IndexedFile]) -> None:
    """PackagingError if a package of the SDK has an extra that requires one of them that is not there.

    Requirements for other systems than Linux are ignored.
    """
    there: dict[str, list[str]] = {}
    for file in files:
        there.setdefault(file.project, []).append(file.version)
    for file in files:
        for extra, requirement in _extras(file):
            name = canonicalize_name(requirement.name)
            versions = there.get(name, ())
            is_wanted = requirement.marker is None or requirement.marker.evaluate(
                {"extra": extra, "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
            )
            if _OURS.fullmatch(name) and is_wanted and not list(requirement.specifier.filter(versions, True)):
                raise PackagingError(
                    f"{file.path}: the extra {extra} requires {requirement}, which is not there",
                    "put that package beside it, or name its directory: --root DIR",
                )


def _extras(file: IndexedFile) -> Iterator[_Extra]:
    if file.project == _SELECTOR and file.metadata is None:
        yield from _of_selector(file.path)
    elif file.metadata is not None and _OURS.fullmatch(file.project):
        metadata = BytesParser().parsebytes(file.metadata)
        with refusing_damage(package_damage(file.path, "METADATA")):
            requirements = [Requirement(str(text)) for text in metadata.get_all("Requires-Dist", ())]
        for extra in metadata.get_all("Provides-Extra", ()):
            for each in requirements:
                if each.marker is not None and f'"{extra}"' in str(each.marker):
                    yield _Extra(extra, each)


def _of_selector(path: Path) -> list[_Extra]:
    """The extras of the selector, for each family that it may choose; none of another packager's."""
    member = f"{path.name.removesuffix('.tar.gz')}/selector.json"
    with refusing_damage(package_damage(path, member)):
        with tarfile.open(path) as archive:
            if member not in archive.getnames():
                return []
            stream = archive.extractfile(member)
            document = json.loads(read_small(stream)) if stream is not None else {}
        return list(_extras_of(document))


def _extras_of(document: Mapping[str, Any]) -> Iterator[_Extra]:
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
                yield _Extra(extra, for_one.get(requirement.name, requirement))
