"""Lists candidates for dlopen dependencies: libraries whose read-only data names an SDK library that they do not need.

A library often passes such a name to dlopen, and no DT_NEEDED entry says so. A person judges the candidates.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.tooling import inspect_library
from rocm_sdk_build.errors import PackagingError

if TYPE_CHECKING:
    from rocm_sdk.tooling import LibraryFacts

_LIBRARY_NAME = re.compile(rb"lib[A-Za-z0-9_+.-]+?\.so(?:\.[0-9]+)*")


class DlopenDependency(NamedTuple):
    """`library` (a SONAME) has the text `name` in its read-only data."""

    library: str
    name: str


def linker_name_of(name: str) -> str:
    """`libamd_comgr.so` of `libamd_comgr.so.2`."""
    return name.partition(".so")[0] + ".so"


def find_dlopen_dependencies(directory: Path) -> list[DlopenDependency]:
    """Searches all libraries below `directory`; sorted. PackagingError if there is none or one is damaged."""
    files = [path for path in sorted(directory.rglob("lib*.so*")) if path.is_file() and _is_elf(path)]
    if not files:
        raise PackagingError(f"{directory}: no shared libraries here", "give the directory of an installed SDK")
    facts = {path: _inspect(path) for path in files}
    linker_names = {linker_name_of(fact.soname or path.name) for path, fact in facts.items()}
    found = set()
    for path, fact in facts.items():
        library = fact.soname or path.name
        known = {linker_name_of(name) for name in (library, *fact.needed)}
        others = linker_names - known
        found |= {
            DlopenDependency(library, name) for name in _library_names(path, fact) if linker_name_of(name) in others
        }
    return sorted(found)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _inspect(path: Path) -> LibraryFacts:
    try:
        return inspect_library(path)
    except RocmSdkError as error:
        raise PackagingError(f"{path}: not a readable shared library: {error.detail}") from error


def _library_names(path: Path, facts: LibraryFacts) -> set[str]:
    names: set[str] = set()
    size = path.stat().st_size
    with path.open("rb") as file:
        for section in facts.sections:
            if not section.name.startswith(".rodata"):
                continue
            if section.offset + section.size > size:
                raise PackagingError(f"{path}: section {section.name!r} ends after the file")
            file.seek(section.offset)
            names.update(name.decode() for name in _LIBRARY_NAME.findall(file.read(section.size)))
    return names
