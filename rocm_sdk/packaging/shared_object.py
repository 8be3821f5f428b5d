"""Reads from an ELF shared library what packaging must know: SONAME, needs, search path, sections."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from .errors import PackagingError

if TYPE_CHECKING:
    from collections.abc import Iterator


# What pyelftools raises for damaged files: its own error, or what an impossible offset or size leads to.
_DAMAGE = (ELFError, AssertionError, OSError, OverflowError, ValueError)

# Tag -> attribute in which pyelftools gives its text.
_TEXTS = {"DT_SONAME": "soname", "DT_NEEDED": "needed", "DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}


class SharedObject(NamedTuple):
    """The dynamic section of one library; `soname`, `rpath` and `runpath` are empty where the tag is absent."""

    soname: str
    needed: tuple[str, ...]
    rpath: str
    runpath: str


class SectionRange(NamedTuple):
    """Where a section's bytes lie in the file."""

    name: str
    offset: int
    size: int


@contextmanager
def _open_elf(path: Path) -> Iterator[ELFFile]:
    with path.open("rb") as file:
        try:
            yield ELFFile(file)
        except _DAMAGE as error:
            raise PackagingError(f"{path}: not a readable ELF file: {error or type(error).__name__}") from error


def is_elf(path: Path) -> bool:
    """Whether the file starts as every ELF file does."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def read_shared_object(path: Path) -> SharedObject:
    """Reads the dynamic section. PackagingError if the file is damaged or has none."""
    with _open_elf(path) as elf:
        dynamic = next((segment for segment in elf.iter_segments() if isinstance(segment, DynamicSegment)), None)
        if dynamic is None:
            raise PackagingError(f"{path}: not a shared library: no dynamic section")
        texts: dict[str, list[str]] = {tag: [] for tag in _TEXTS}
        for tag in dynamic.iter_tags():
            if tag.entry.d_tag in _TEXTS:
                texts[tag.entry.d_tag].append(str(getattr(tag, _TEXTS[tag.entry.d_tag])))
        return SharedObject(
            soname="".join(texts["DT_SONAME"][-1:]),
            needed=tuple(texts["DT_NEEDED"]),
            rpath="".join(texts["DT_RPATH"][-1:]),
            runpath="".join(texts["DT_RUNPATH"][-1:]),
        )


def read_sections(path: Path) -> list[SectionRange]:
    """Lists the sections that have bytes in the file. PackagingError if the file is damaged."""
    with _open_elf(path) as elf:
        sections = [
            SectionRange(section.name, section["sh_offset"], section["sh_size"])
            for section in elf.iter_sections()
            if section["sh_type"] != "SHT_NOBITS"
        ]
        end = path.stat().st_size
        for section in sections:
            if section.offset + section.size > end:
                raise PackagingError(f"{path}: not a readable ELF file: section {section.name!r} ends after the file")
        return sections
