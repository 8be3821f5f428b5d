"""Why a library cannot be loaded, found from the dlerror text and the dependency graph of the installation."""

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

# For libraries that are in no table: replaces the package's name by a search for it.
_UNKNOWN_HOST_PACKAGES = {
    "debian": "$(apt-file --package-only search /{soname})",
    "fedora": "'*/{soname}'",
    "suse": "'{soname}()(64bit)'",
    "arch": "$(pacman -Fq {soname})",
    "gentoo": "$(e-file {soname})",
}


class Explanation:
    """Explains load failures, given all shared objects of an installation."""

    def __init__(self, installation: Installation, objects: list[SharedObject]) -> None:
        self._installation = installation
        self._by_name: dict[str, SharedObject] = {}
        self._by_path = {each.path: each for each in objects}
        for each in objects:
            self._by_name.setdefault(each.name, each)

    @cached_property
    def directories(self) -> list[str]:
        """The directories with libraries."""
        return list(dict.fromkeys(os.path.dirname(each.path) for each in self._by_name.values()))

    def is_unaided(self, result: LoadResult) -> bool:
        """Whether it failed only because the SDK has no RPATHs, so that the loader has to find its libraries."""
        missing = _missing_name(result)
        if missing is None or missing not in self._by_name:
            return False
        return all(each.search_path is None for each in self._needing(result.path, missing))

    def of(self, result: LoadResult) -> tuple[str, dict[str, object]]:
        """The problem code, and its facts besides those of the library."""
        missing = _missing_name(result)
        if missing is not None:
            return self._of_missing(result, missing)
        if (match := _OLD_GLIBC.search(result.dlerror_text)) is not None:
            return "E-LIB-005", {"wanted": match[1], "present": platform.libc_ver()[1]}
        if "static TLS" in result.dlerror_text:
            return "E-LIB-018", {}
        if "executable stack" in result.dlerror_text:
            return "E-LIB-015", {}
        if _is_noexec(result.path):
            return "E-LIB-017", {}
        if "Permission denied" in result.dlerror_text:
            return "E-FILE-007", {"detail": result.dlerror_text}
        if _MISFIT.search(result.dlerror_text) is not None:
            return "E-LIB-020", {"detail": result.dlerror_text}
        return "E-LIB-001", {"detail": result.dlerror_text}

    def _of_missing(self, result: LoadResult, missing: str) -> tuple[str, dict[str, object]]:
        needing = ", ".join(each.name for each in self._needing(result.path, missing)) or "one of its dependencies"
        facts: dict[str, object] = {"needing": needing, "name": missing}
        if missing in self._by_name:
            return "E-LIB-004", facts | {"present": self._by_name[missing].path}
        requirement = self._requirement_for(missing)
        if requirement is not None:
            return "E-LIB-003", facts | {"requirement": requirement}
        return "E-LIB-002", facts | host_packages_of(missing)

    def _requirement_for(self, soname: str) -> str | None:
        """The package of a library: the one whose RECORD lists the file, else the one in the catalog."""
        for path, owner in self._installation.owners.items():
            if path.endswith(f"/{soname}"):
                return f"{owner.name}=={owner.version}"
        for entry in ALL_LIBRARIES.values():
            if fnmatchcase(soname, entry.so_pattern):
                return self._installation.requirement_of(entry.package.logical_name)
        return None

    def _needing(self, path: str, missing: str) -> list[SharedObject]:
        """The library itself and its dependencies, direct or not, if they need `missing`."""
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
    """The packages of Linux distributions that contain a host library, by system."""
    for known, *packages in _native.host_packages():
        if known == soname:
            return dict(zip(_UNKNOWN_HOST_PACKAGES, packages, strict=True))
    return {system: search.format(soname=soname) for system, search in _UNKNOWN_HOST_PACKAGES.items()}


def _missing_name(result: LoadResult) -> str | None:
    match = _MISSING.search(result.dlerror_text) if result.outcome == "refused" else None
    return match[1] if match else None


def _is_noexec(path: str) -> bool:
    try:
        return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False
