"""Lists candidates for run-time edges: libraries whose read-only data names an SDK library that they do not need.

Such a name is often one that the library gives to dlopen, which no NEEDED entry tells. People judge the candidates.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .errors import PackagingError
from .shared_object import is_elf, read_sections, read_shared_object

_LIBRARY_NAME = re.compile(rb"lib[A-Za-z0-9_+.-]+?\.so(?:\.[0-9]+)*")


class RunTimeEdge(NamedTuple):
    """`library` (a SONAME) has the text `name` in its read-only data."""

    library: str
    name: str


def stem_of(name: str) -> str:
    """`libamd_comgr.so` of `libamd_comgr.so.2`."""
    return name.partition(".so")[0] + ".so"


def find_run_time_edges(directory: Path) -> list[RunTimeEdge]:
    """Searches all libraries below `directory`; sorted. PackagingError if there is none or one is damaged."""
    files = [path for path in sorted(directory.rglob("lib*.so*")) if path.is_file() and is_elf(path)]
    if not files:
        raise PackagingError(f"{directory}: no shared libraries here", "give the directory of an installed SDK")
    facts = {path: read_shared_object(path) for path in files}
    stems = {stem_of(fact.soname or path.name) for path, fact in facts.items()}
    edges = set()
    for path, fact in facts.items():
        library = fact.soname or path.name
        known = {stem_of(name) for name in (library, *fact.needed)}
        edges |= {RunTimeEdge(library, name) for name in _library_names(path) if stem_of(name) in stems - known}
    return sorted(edges)


def _library_names(path: Path) -> set[str]:
    names: set[str] = set()
    with path.open("rb") as file:
        for section in read_sections(path):
            if section.name.startswith(".rodata"):
                file.seek(section.offset)
                names.update(name.decode() for name in _LIBRARY_NAME.findall(file.read(section.size)))
    return names
