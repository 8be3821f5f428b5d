"""Makes an SDK of ROCm from Debian's binary packages: which packages, which of their libraries, which version."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from packaging.version import InvalidVersion, Version

from .apt import Apt, DebianPackage
from .debian_development import plan_development
from .debian_rules import (
    ABSENT_LIBRARIES,
    BASE_PACKAGES,
    DEVELOPMENT_PACKAGES,
    ROCM_LIBRARIES,
    VERSION_PACKAGE,
)
from .errors import PackagingError
from .plan import (
    PlannedLibrary,
    SdkPlan,
    add_host_libraries,
    find_shared_libraries,
    plan_library,
    select_by_linker_name,
)


def resolve_packages(apt: Apt) -> list[DebianPackage]:
    """Debian's ROCm packages and what they depend on, as apt would install them, and those to develop with."""
    runtime = apt.closure((row.package for row in ROCM_LIBRARIES), BASE_PACKAGES)
    return sorted({*runtime, *apt.candidates(DEVELOPMENT_PACKAGES)})


def sdk_version(packages: list[DebianPackage], requested: str | None) -> str:
    """The version of the wheels: as requested, or the upstream version of Debian's HIP (`5.2.3` of `5.2.3-8`).

    PackagingError if it is not a version in the form that PEP 440 prefers.
    """
    debian = next(package.version for package in packages if package.name == VERSION_PACKAGE)
    upstream = re.sub(r"^\d+:|-[^-]*$|\+(dfsg|ds)[^-]*", "", debian)
    version = upstream if requested is None else requested
    try:
        canonical = str(Version(version))
    except InvalidVersion as error:
        raise PackagingError(f"{version}: not a version of a Python package", "give one: --version 5.2.3") from error
    if version != canonical:
        raise PackagingError(f"{version}: not in the canonical form", f"write it {canonical}")
    return version


def plan_sdk(apt: Apt, packages: list[DebianPackage], version: str) -> SdkPlan:
    """Downloads and unpacks `packages` as far as they are not there, and chooses among their files."""
    directories = {package.name: directory for package, directory in apt.unpack(packages).items()}
    found = [library for name, directory in directories.items() for library in find_shared_libraries(name, directory)]
    rocm = [
        plan_library(select_by_linker_name(found, row.package, row.linker_name), row.wheel) for row in ROCM_LIBRARIES
    ]
    libraries = tuple(add_host_libraries(rocm, found))
    development = plan_development([directories[name] for name in DEVELOPMENT_PACKAGES], libraries)
    return SdkPlan(version, libraries, ABSENT_LIBRARIES, development, _licenses(libraries, directories))


def _licenses(libraries: tuple[PlannedLibrary, ...], directories: dict[str, Path]) -> dict[str, dict[str, Path]]:
    licenses: dict[str, dict[str, Path]] = defaultdict(dict)
    origins = [(library.wheel, library.found.package) for library in libraries]
    for wheel, package in [*origins, *(("devel", package) for package in DEVELOPMENT_PACKAGES)]:
        file = directories[package] / "usr/share/doc" / package / "copyright"
        if file.is_file():
            licenses[wheel][package] = file
    return licenses
