"""What an SDK will consist of, decided before anything is written: each library, its source, its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .errors import PackagingError
from .sdk_rules import BASE_LIBRARIES, HOST_LIBRARY_DIRECTORY, LIBRARY_DIRECTORY, WHEELS
from .shared_object import SharedObject, is_elf, read_shared_object


class FoundLibrary(NamedTuple):
    """A shared library among the input files, and the package that has it."""

    package: str
    path: Path
    facts: SharedObject


class PlannedLibrary(NamedTuple):
    """A library of the SDK: the file of the input, its wheel, its directory in the wheel's platform directory."""

    found: FoundLibrary
    wheel: str
    directory: str

    @property
    def site_path(self) -> PurePosixPath:
        """Path in site-packages; the file is called by its SONAME."""
        return PurePosixPath(WHEELS[self.wheel].platform_directory, self.directory, self.found.facts.soname)


class DevelopmentFile(NamedTuple):
    """A file of the development tree: its path in it, and its content, or the text of a symbolic link."""

    place: PurePosixPath
    content: bytes = b""
    link: str = ""
    is_program: bool = False


class SdkPlan(NamedTuple):
    """Everything that goes into the wheels. `licenses`: wheel -> package -> file with its copyright terms."""

    version: str
    libraries: tuple[PlannedLibrary, ...]
    absent_libraries: tuple[str, ...]
    development: tuple[DevelopmentFile, ...]
    licenses: Mapping[str, Mapping[str, Path]]


def find_shared_libraries(package: str, directory: Path) -> list[FoundLibrary]:
    """The libraries among a package's files. Symlinks are other names of them, files without a SONAME are plug-ins."""
    files = (path for path in sorted(directory.rglob("*.so*")) if path.is_file() and not path.is_symlink())
    found = [FoundLibrary(package, path, read_shared_object(path)) for path in files if is_elf(path)]
    return [library for library in found if library.facts.soname]


def select_by_linker_name(libraries: Iterable[FoundLibrary], package: str, linker_name: str) -> FoundLibrary:
    """The library of `package` whose SONAME is `linker_name` with a version. PackagingError unless there is one."""
    own = [library for library in libraries if library.package == package]
    matches = [
        library
        for library in own
        if library.facts.soname.startswith(f"{linker_name}.") or library.facts.soname == linker_name
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise PackagingError(
            f"{package}: several libraries are {linker_name}: {_listed(str(match.path) for match in matches)}"
        )
    there = _listed(library.facts.soname for library in own) or "none"
    raise PackagingError(f"{package}: no library with the SONAME {linker_name}.*; its SONAMEs: {there}")


def add_host_libraries(planned: Iterable[PlannedLibrary], libraries: Iterable[FoundLibrary]) -> list[PlannedLibrary]:
    """Adds what `planned` need, directly or through others, that is not a base library of every system.

    PackagingError that names file and SONAME for each need that no input library meets.
    """
    result = {library.found.facts.soname: library for library in planned}
    by_soname: dict[str, list[FoundLibrary]] = defaultdict(list)
    for found in libraries:
        by_soname[found.facts.soname].append(found)
    pending, missing = list(result.values()), []
    while pending:
        user = pending.pop().found
        for name in user.facts.needed:
            if name in result or is_base_library(name):
                continue
            if name not in by_soname:
                missing.append(f"{user.path} ({user.package}) needs {name}")
                continue
            result[name] = PlannedLibrary(_baseline(by_soname[name]), "core", HOST_LIBRARY_DIRECTORY)
            pending.append(result[name])
    if missing:
        raise PackagingError(
            f"libraries are missing: {_listed(missing)}",
            "the package that has them must be a dependency of the package that needs them",
        )
    return sorted(result.values(), key=lambda library: library.site_path)


def plan_library(found: FoundLibrary, wheel: str) -> PlannedLibrary:
    """Places a library of ROCm itself."""
    return PlannedLibrary(found, wheel, LIBRARY_DIRECTORY)


def is_base_library(soname: str) -> bool:
    """Whether every system has this library, so that no SDK contains it."""
    return any(fnmatchcase(soname, pattern) for pattern in BASE_LIBRARIES)


def _baseline(variants: list[FoundLibrary]) -> FoundLibrary:
    """Of builds for several CPU levels the one for all CPUs: the others lie in glibc-hwcaps directories below it."""
    shallowest = min(len(variant.path.parts) for variant in variants)
    candidates = [variant for variant in variants if len(variant.path.parts) == shallowest]
    if len(candidates) > 1:
        files = _listed(str(candidate.path) for candidate in candidates)
        raise PackagingError(f"several libraries have the SONAME {candidates[0].facts.soname}: {files}")
    return candidates[0]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts))
