"""The facts that are known of the sources of the installed SDK, in one value."""

from __future__ import annotations

import os
from typing import NamedTuple

from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.origin import Origin, origin_of
from rocm_sdk.installed.shared_objects import SharedObject
from rocm_sdk.installed.view import Installed, current

from .closed_source import ClosedSource, State, row_of, state_of
from .licences import Licence, Licences
from .manifest import NAME, Manifest, read_manifest


class Package(NamedTuple):
    """A distribution of the SDK and its origin."""

    name: str
    version: str
    origin: Origin


class Library(NamedTuple):
    """A library's file. Empty and None: unknown."""

    path: str
    package: str | None
    build_id: str | None
    compilers: tuple[str, ...]
    licence: Licence | None
    closed: ClosedSource | None  # the row of the table, None without one
    state: State | None


class Provenance(NamedTuple):
    """The provenance of an SDK."""

    version: str | None
    manifest: Manifest | None
    packages: tuple[Package, ...]
    libraries: tuple[Library, ...]
    problems: tuple[str, ...]


def provenance() -> Provenance:
    """Return the provenance of the SDK that this process would use. Unreadable files are among the problems."""
    installation = current()
    version = None if installation.version == "unknown" else installation.version
    problems: list[str] = []
    manifest = _manifest(installation, problems)
    owned = [each for each in installation.distributions if each.has_sdk_files and not each.is_placeholder]
    origins = {each.directory: origin_of(each) for each in owned}
    licences, owners = Licences(), installation.owners
    libraries = []
    for found in installation.shared_objects:
        owner = owners.get(os.path.relpath(found.path, installation.site))
        libraries.append(_library(found, installation, owner, origins, licences))
        if found.fault is not None:
            problems.append(found.fault)
    packages = tuple(Package(each.name, each.version, origins[each.directory]) for each in owned)
    return Provenance(version, manifest, packages, tuple(libraries), tuple(problems))


def _manifest(installation: Installed, problems: list[str]) -> Manifest | None:
    """Return the manifest of the first directory that has one; None if none has."""
    directories = installation.platform_directories or (installation.site,)
    return next(filter(None, (_manifest_in(each, problems) for each in directories)), None)


def _manifest_in(directory: str, problems: list[str]) -> Manifest | None:
    try:
        return read_manifest(directory)
    except OSError as error:
        problems.append(f"{error.filename or os.path.join(directory, NAME)}: {error.strerror}")
    except ValueError as error:
        problems.append(f"{os.path.join(directory, NAME)}: {error}")
    return None


def _library(
    found: SharedObject,
    installation: Installed,
    owner: Distribution | None,
    origins: dict[str, Origin],
    licences: Licences,
) -> Library:
    top = installation.site if installation.fallback is not None else found.package(installation.site)
    name = linker_name(found.name)
    row = row_of(name)
    origin = None if owner is None else origins.get(owner.directory)
    return Library(
        path=found.path,
        package=None if owner is None else owner.name,
        build_id=None if found.facts is None else found.facts.build_id,
        compilers=() if found.facts is None else found.facts.compilers,
        licence=licences.of(found.path, name, top, origin, None if owner is None else owner.directory),
        closed=row,
        state=None if row is None else state_of(row, installation.version),
    )
