"""Why a library cannot be loaded: the linker's words, and what the dependency graph of the installation knows."""

from __future__ import annotations

import os
import platform
import re
from fnmatch import fnmatchcase
from functools import cached_property

from rocm_sdk import _native
from rocm_sdk._dist_info import ALL_LIBRARIES

from .installation import Installation
from .loading import LoadResult
from .shared_objects import SharedObject

_MISSING = re.compile(r"(?:^|: )([^\s:]+): cannot open shared object file: No such file")
_OLD_GLIBC = re.compile(r"version `GLIBC_([\d.]+)' not found")
_MISFIT = re.compile(
    r"undefined symbol: \S+|version `\S+' not found \(required by .*\)|symbol \S+ version \S+ not defined"
)

# What finds the package of a library that no table knows; each of these can stand in the place of a package's name.
_UNKNOWN_HOST_PACKAGES = {
    "debian": "$(apt-file --package-only search /{soname})",
    "fedora": "'*/{soname}'",
    "suse": "'{soname}()(64bit)'",
    "arch": "$(pacman -Fq {soname})",
    "gentoo": "$(e-file {soname})",
}


class Explanation:
    """Knows all shared objects of an installation and who needs whom."""

    def __init__(self, installation: Installation, objects: list[SharedObject]) -> None:
        self._installation = installation
        self._by_name: dict[str, SharedObject] = {}
        self._by_path = {each.path: each for each in objects}
        for each in objects:
            self._by_name.setdefault(each.name, each)

    @cached_property
    def directories(self) -> list[str]:
        """The directories that hold libraries."""
        return list(dict.fromkeys(os.path.dirname(each.path) for each in self._by_name.values()))

    def is_unaided(self, result: LoadResult) -> bool:
        """Whether it failed only because an SDK without RPATHs leaves finding its libraries to the loader."""
        missing = _missing_name(result)
        if missing is None or missing not in self._by_name:
            return False
        return all(each.search_path is None for each in self._who_needs(result.path, missing))

    def of(self, result: LoadResult) -> tuple[str, dict[str, object]]:
        """The code of the registry, and the facts that it asks for beyond the library's own."""
        missing = _missing_name(result)
        if missing is not None:
            return self._of_missing(result, missing)
        if (match := _OLD_GLIBC.search(result.words)) is not None:
            return "E-LIB-005", {"wanted": match[1], "present": platform.libc_ver()[1]}
        if "static TLS" in result.words:
            return "E-LIB-018", {}
        if "executable stack" in result.words:
            return "E-LIB-015", {}
        if _is_noexec(result.path):
            return "E-LIB-017", {}
        if "Permission denied" in result.words:
            return "E-FILE-007", {"detail": result.words}
        if _MISFIT.search(result.words) is not None:
            return "E-LIB-020", {"detail": result.words}
        return "E-LIB-001", {"detail": result.words}

    def _of_missing(self, result: LoadResult, missing: str) -> tuple[str, dict[str, object]]:
        needing = ", ".join(each.name for each in self._who_needs(result.path, missing)) or "something that it needs"
        facts: dict[str, object] = {"needing": needing, "name": missing}
        if missing in self._by_name:
            return "E-LIB-004", facts | {"present": self._by_name[missing].path}
        requirement = self._requirement_for(missing)
        if requirement is not None:
            return "E-LIB-003", facts | {"requirement": requirement}
        return "E-LIB-002", facts | host_packages_of(missing)

    def _requirement_for(self, soname: str) -> str | None:
        """What brings a library of the SDK: the package that promised the file, else the one of the catalog."""
        for path, owner in self._installation.owners.items():
            if path.endswith(f"/{soname}"):
                return f"{owner.name}=={owner.version}"
        for entry in ALL_LIBRARIES.values():
            if fnmatchcase(soname, entry.so_pattern):
                return self._installation.requirement_of(entry.package.logical_name)
        return None

    def _who_needs(self, path: str, missing: str) -> list[SharedObject]:
        """Those of the library and of what it needs, directly or not, that name `missing`."""
        pending, seen, found = [path], {path}, []
        while pending:
            each = self._by_path.get(pending.pop())
            needed = each.facts.needed if each is not None and each.facts is not None else ()
            if each is not None and missing in needed:
                found.append(each)
            for name in needed:
                below = self._by_name.get(name)
                if below is not None and below.path not in seen:
                    seen.add(below.path)
                    pending.append(below.path)
        return found


def host_packages_of(soname: str) -> dict[str, object]:
    """The distribution packages that bring a host library, by system."""
    for known, *packages in _native.host_packages():
        if known == soname:
            return dict(zip(_UNKNOWN_HOST_PACKAGES, packages, strict=True))
    return {system: words.format(soname=soname) for system, words in _UNKNOWN_HOST_PACKAGES.items()}


def _missing_name(result: LoadResult) -> str | None:
    match = _MISSING.search(result.words) if result.outcome == "refused" else None
    return match[1] if match else None


def _is_noexec(path: str) -> bool:
    try:
        return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False
