"""Lists candidates for dlopen dependencies: libraries whose read-only data names an SDK library that they do not need.

A library often passes such a name to dlopen, and no DT_NEEDED entry says so. A person judges the candidates.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .errors import PackagingError
from .shared_object import find_sections, is_elf, read_shared_object

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
    files = [path for path in sorted(directory.rglob("lib*.so*")) if path.is_file() and is_elf(path)]
    if not files:
        raise PackagingError(f"{directory}: no shared libraries here", "give the directory of an installed SDK")
    facts = {path: read_shared_object(path) for path in files}
    linker_names = {linker_name_of(fact.soname or path.name) for path, fact in facts.items()}
    found = set()
    for path, fact in facts.items():
        library = fact.soname or path.name
        known = {linker_name_of(name) for name in (library, *fact.needed)}
        others = linker_names - known
        found |= {DlopenDependency(library, name) for name in _library_names(path) if linker_name_of(name) in others}
    return sorted(found)


def _library_names(path: Path) -> set[str]:
    names: set[str] = set()
    with path.open("rb") as file:
        for section in find_sections(path, ".rodata"):
            file.seek(section.offset)
            names.update(name.decode() for name in _LIBRARY_NAME.findall(file.read(section.size)))
    return names
