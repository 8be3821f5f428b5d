"""The notes of AMDGPU code objects. Source: LLVM's AMDGPUUsage, "Note Records"."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from rocm_sdk.fit.code.refusal import refusal

from .bundles import Entry
from .elf64 import HEADER, PT_NOTE, SEGMENT, align_up

_NOTE = struct.Struct("<III")
_NOTE_LIMIT = 1 << 26  # bytes
_SEGMENT_LIMIT = 1024


class Note(NamedTuple):
    """A note of a code object."""

    owner: bytes
    type: int
    offset: int  # offset of the description in the code object
    description: bytes


def read_header(entry: Entry) -> tuple[Any, ...] | None:
    """Return the fields of HEADER; None if the entry is not a 64-bit, little-endian ELF file."""
    data = os.pread(entry.descriptor, HEADER.size, entry.offset)
    if entry.size < HEADER.size or len(data) < HEADER.size or data[:6] != b"\x7fELF\x02\x01":
        return None
    return HEADER.unpack(data)


def read_notes(entry: Entry, path: str) -> Iterator[Note]:
    """Yield the notes of a code object, whose header `read_header` accepts.

    Raise RewriteError for a code object whose notes lie outside it.
    """
    header = read_header(entry)
    assert header is not None
    table, count = header[5], header[10]
    if count > _SEGMENT_LIMIT or table + count * SEGMENT.size > entry.size:
        raise refusal(path, "the headers of a code object lie outside it")
    rows = os.pread(entry.descriptor, count * SEGMENT.size, entry.offset + table)
    for kind, _, offset, _, _, size, _, align in SEGMENT.iter_unpack(rows):
        if kind == PT_NOTE:
            if offset + size > entry.size or size > _NOTE_LIMIT:
                raise refusal(path, "a note of a code object lies outside it")
            data = os.pread(entry.descriptor, size, entry.offset + offset)
            yield from _notes(data, offset, 8 if align == 8 else 4)


def _notes(data: bytes, start: int, align: int) -> Iterator[Note]:
    position = 0
    while position + _NOTE.size <= len(data):
        owner_size, size, kind = _NOTE.unpack_from(data, position)
        owner = position + _NOTE.size
        place = align_up(owner + owner_size, align)
        yield Note(data[owner : owner + owner_size], kind, start + place, data[place : place + size])
        position = align_up(place + size, align)
