"""The copies of libraries with a hole in place of the GPU code.

The code is most of a library, and stays in the original.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rocm_sdk import RewriteError
from rocm_sdk_build.base.original_bytes import Rest, copy_range

from .elf64 import HEADER, PT_LOAD, SECTION, SEGMENT, SHT_NOBITS, Elf, read_elf
from .file_pieces import clone
from .wrappers import FAT


def copy_file(original: Path, copy: Path) -> Rest | None:
    """Make a copy that its owner may write; return the part that the copy lacks, or None.

    The copy is whole if the file system can share data until they are written, or if no section holds code alone.
    """
    with original.open("rb") as source, copy.open("wb") as target:
        size = os.fstat(source.fileno()).st_size
        rest = None
        if not clone(source.fileno(), target.fileno()):
            rest = _code(source, original)
            copy_range(source, target, 0, rest.start if rest else size)
            if rest is not None:
                copy_range(source, target, rest.end, size)
                target.truncate(size)
        os.fchmod(target.fileno(), stat.S_IMODE(os.fstat(source.fileno()).st_mode) | stat.S_IWUSR)
    return rest


def _code(source: BinaryIO, path: Path) -> Rest | None:
    """Return the section of code, if nothing else lies in it, or None."""
    try:
        elf = read_elf(source.fileno(), str(path))
    except RewriteError:
        return None
    index = elf.find(FAT.section)
    if index is None or elf.sections[index].type == SHT_NOBITS:
        return None
    start, end = elf.sections[index].offset, elf.sections[index].offset + elf.sections[index].size
    if any(start < other_end and other_start < end for other_start, other_end in _others(elf, index)):
        return None
    return Rest(path, start, end)


def _others(elf: Elf, code: int) -> Iterator[tuple[int, int]]:
    """Yield the places of all other parts, except parts that are loaded with the code."""
    yield 0, HEADER.size
    yield elf.segments_offset, elf.segments_offset + len(elf.segments) * SEGMENT.size
    yield elf.sections_offset, elf.sections_offset + len(elf.sections) * SECTION.size
    for index, section in enumerate(elf.sections):
        if index != code:
            yield section.offset, section.offset + section.file_size
    for segment in elf.segments:
        if segment.type != PT_LOAD:
            yield segment.offset, segment.offset + segment.file_size
