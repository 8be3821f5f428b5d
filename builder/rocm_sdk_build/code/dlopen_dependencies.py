"""The search for dlopen dependencies: libraries whose read-only data names an SDK library that they do not need.

A library often passes such a name to dlopen, and has no DT_NEEDED entry for it. The result is a list of candidates,
which a person judges.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.directory_walk import refuse_deep
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.named_directory import require_directory
from rocm_sdk_build.code.elf64 import SHT_NOBITS, read_elf

if TYPE_CHECKING:
    from rocm_sdk.installed.readers import LibraryFacts

_CHUNK = 1 << 22
_LONGEST = 255  # bytes of a file's name
_RUN = re.compile(rb"lib[A-Za-z0-9_+.-]+")  # as many characters of names as there are
_END = re.compile(rb"\.so(?:\.[0-9]+)*")


class DlopenDependency(NamedTuple):
    """A library, by its SONAME, with the text `name` in its read-only data."""

    library: str
    name: str


def find_dlopen_dependencies(directory: Path) -> list[DlopenDependency]:
    """Return the candidates among all libraries below `directory`, sorted.

    Raise PackagingError if there is no library or one is damaged.
    """
    require_directory(directory, "give the directory of an installed SDK")
    refuse_deep(directory)
    files = [path for path in sorted(directory.rglob("lib*.so*")) if path.is_file() and is_elf(path)]
    if not files:
        raise PackagingError(f"{directory}: no shared libraries here", "give the directory of an installed SDK")
    facts = {path: _inspect(path) for path in files}
    linker_names = {linker_name(fact.soname or path.name) for path, fact in facts.items()}
    found = set()
    for path, fact in facts.items():
        library = fact.soname or path.name
        known = {linker_name(name) for name in (library, *fact.needed)}
        others = linker_names - known
        found |= {DlopenDependency(library, name) for name in library_names(path) if linker_name(name) in others}
    return sorted(found)


def is_elf(path: str | Path) -> bool:
    """Return whether a file begins as ELF files do."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _inspect(path: Path) -> LibraryFacts:
    try:
        return inspect_library(path)
    except RocmSdkError as error:
        raise PackagingError(f"{path}: not a readable shared library: {error.detail}") from error


def library_names(path: str | Path) -> set[str]:
    """Return the names of libraries in the read-only data of a library or program.

    Raise PackagingError for a damaged file.
    """
    names: set[str] = set()
    with open(path, "rb") as file:
        try:
            sections = read_elf(file.fileno(), str(path)).sections
        except RocmSdkError as error:
            raise PackagingError(f"{path}: not a readable shared library: {error.detail}") from error
        size = os.fstat(file.fileno()).st_size
        for section in sections:
            if not section.name.startswith(b".rodata") or section.type == SHT_NOBITS:
                continue
            if section.offset + section.size > size:
                raise PackagingError(f"{path}: section {section.shown} ends after the file")
            file.seek(section.offset)
            names.update(_names_in(file, section.size))
    return names


def _names_in(file: BinaryIO, size: int) -> Iterator[str]:
    """Yield the names in the next `size` bytes.

    The bytes are read in chunks: the data of some libraries is larger than memory.
    """
    before = b""
    while data := file.read(min(size, _CHUNK)):
        size -= len(data)
        buffer = before + data
        for start, end in _places(buffer):
            if size == 0 or end < len(buffer):  # a name that goes on is in the next chunk, which overlaps
                yield buffer[start:end].decode()
        before = buffer[-_LONGEST:]


def _places(buffer: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each name.

    Each byte is looked at a few times, however often "lib" stands before no ".so".
    """
    for run in _RUN.finditer(buffer):
        start = run.start()
        while start >= 0 and (found := _END.search(buffer, start + len("lib") + 1, run.end())) is not None:
            yield start, found.end()
            start = buffer.find(b"lib", found.end(), run.end())
