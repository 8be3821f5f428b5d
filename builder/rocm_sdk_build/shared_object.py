"""Facts about an ELF shared library that packaging needs, read by the loader: SONAME, needs, search path, sections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.tooling import inspect_library

from .errors import PackagingError

if TYPE_CHECKING:
    from rocm_sdk.tooling import LibraryFacts


class SharedObject(NamedTuple):
    """What the dynamic linker reads; `soname`, `rpath` and `runpath` are empty where the tag is absent."""

    soname: str
    needed: tuple[str, ...]
    rpath: str
    runpath: str
    executable_stack: bool = False  # PT_GNU_STACK


class SectionRange(NamedTuple):
    """Where a section's bytes lie in the file."""

    name: str
    offset: int
    size: int


def is_elf(path: Path) -> bool:
    """Whether the file starts as every ELF file does."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def read_shared_object(path: Path) -> SharedObject:
    """Reads the dynamic section. PackagingError if the file is damaged or has none."""
    facts = _inspect(path)
    return SharedObject(
        facts.soname or "", facts.needed, facts.rpath or "", facts.runpath or "", facts.executable_stack
    )


def find_sections(path: Path, prefix: str) -> list[SectionRange]:
    """Where the sections lie whose names begin with `prefix`. PackagingError if the file is damaged."""
    size = path.stat().st_size
    ranges = [SectionRange(*section) for section in _inspect(path).sections if section.name.startswith(prefix)]
    for section in ranges:
        if section.offset + section.size > size:
            raise PackagingError(f"{path}: section {section.name!r} ends after the file")
    return ranges


def _inspect(path: Path) -> LibraryFacts:
    try:
        return inspect_library(path)
    except RocmSdkError as error:
        reason = error.message.removeprefix(f"{path}: ")
        raise PackagingError(f"{path}: not a readable shared library: {reason}") from error
