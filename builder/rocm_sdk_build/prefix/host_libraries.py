"""Libraries that are no part of ROCm, and without which its libraries do not load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm_sdk_build.artifacts.file_kind import Kind, look_at
from rocm_sdk_build.dynamic_section import DynamicSection, read_dynamic_section
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.plan import is_base_library
from rocm_sdk_build.sdk_rules import HOST_LIBRARY_DIRECTORY


def host_libraries(users: Iterable[Path], others: Iterable[Path]) -> dict[str, Path]:
    """Place -> file of what the users need, directly or through others, and only the others have.

    Of several files with one SONAME, the one to which the search path of the user leads counts, then the one that lies
    highest: builds for single kinds of processors lie below it. PackagingError where neither decides.
    """
    pending = list(users)
    own = {soname for path in pending if (soname := look_at(path).soname)}
    candidates = _by_soname(others)
    found: dict[str, Path] = {}
    while pending:
        user = pending.pop()
        facts = read_dynamic_section(user)
        for name in facts.needed:
            if name in own or name not in candidates or is_base_library(name):
                continue
            path = _chosen(candidates[name], facts, user)
            other = found.setdefault(f"{HOST_LIBRARY_DIRECTORY}/{name}", path)
            if other == path:
                own.add(name)
                pending.append(path)
    return found


def _by_soname(paths: Iterable[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        if ".so" in path.name and (soname := look_at(path).soname):
            found[soname].append(path)
    return found


def _chosen(variants: list[Path], facts: DynamicSection, user: Path) -> Path:
    for directory in _searched(facts, user):
        for variant in variants:
            if variant.parent == directory:
                return variant
    depth = min(len(variant.parts) for variant in variants)
    highest = [variant for variant in variants if len(variant.parts) == depth]
    if len(highest) > 1:
        listed = " and ".join(map(str, sorted(highest)))
        raise PackagingError(f"{listed} have one SONAME, and {user} needs one of them", "leave out the others")
    return highest[0]


def _searched(facts: DynamicSection, user: Path) -> Iterator[Path]:
    for entry in facts.search_path.split(":"):
        if entry:
            text = entry.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(user.parent))
            yield Path(text).resolve()


def needs_libraries(path: Path) -> bool:
    """Whether the dynamic linker reads the file."""
    return look_at(path).kind in (Kind.LIBRARY, Kind.PROGRAM)
