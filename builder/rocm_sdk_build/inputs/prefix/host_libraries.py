"""The libraries that are not part of ROCm, and without which ROCm's libraries do not load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from rocm_sdk.base.search_path import expanded
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.dynamic_section import DynamicSection, read_dynamic_section
from rocm_sdk_build.inputs.file_kind import Kind, look_at

_DIRECTORY = "lib/rocm_sysdeps/lib"

# SONAME patterns of the libraries that every glibc system with a C++ runtime has: no SDK contains them.
_BASE_LIBRARIES = (
    *("ld-linux*.so.*", "ld64.so.*", "libanl.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6"),
    *("libmvec.so.1", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libstdc++.so.6", "libutil.so.1"),
)


def is_base_library(soname: str) -> bool:
    """Return whether every system has this library."""
    return any(fnmatchcase(soname, pattern) for pattern in _BASE_LIBRARIES)


def host_libraries(users: Iterable[Path], others: Iterable[Path], *, is_complete: bool = False) -> dict[str, Path]:
    """Return by its place each library that the users need, directly or through others, and only the others have.

    Of several files with one SONAME, the file to which the search path of the user leads counts, then the file that
    lies highest: builds for single kinds of processors lie below.

    Raise PackagingError if neither decides, and, with `is_complete`, if nobody has a library that the users need.
    """
    pending = list(users)
    own = {soname for path in pending if (soname := look_at(path).soname)}
    candidates: dict[str, list[Path]] = defaultdict(list)
    for path in others:
        if ".so" in path.name and (soname := look_at(path).soname):
            candidates[soname].append(path)
    found: dict[str, Path] = {}
    missing = []
    while pending:
        user = pending.pop()
        facts = read_dynamic_section(user)
        for name in facts.needed:
            if name in own or is_base_library(name):
                continue
            if name not in candidates:
                missing.append(f"{user} needs {name}")
                continue
            path = _chosen(candidates[name], facts, user)
            other = found.setdefault(f"{_DIRECTORY}/{name}", path)
            if other == path:
                own.add(name)
                pending.append(path)
    if missing and is_complete:
        raise PackagingError(
            f"libraries are missing: {', '.join(sorted(missing))}",
            "the package that has a library must be a dependency of the package that needs it",
        )
    return found


def _chosen(variants: list[Path], facts: DynamicSection, user: Path) -> Path:
    for entry in facts.search_path.split(":"):
        directory = expanded(entry, str(user))
        for variant in variants:
            if directory and variant.parent == Path(directory).resolve():
                return variant
    depth = min(len(variant.parts) for variant in variants)
    highest = [variant for variant in variants if len(variant.parts) == depth]
    if len(highest) > 1:
        listed = " and ".join(map(str, sorted(highest)))
        raise PackagingError(f"{listed} have one SONAME, and {user} needs one of them", "leave out the others")
    return highest[0]


def needs_libraries(path: Path) -> bool:
    """Return whether the dynamic linker reads the file."""
    return look_at(path).kind in (Kind.LIBRARY, Kind.PROGRAM)
