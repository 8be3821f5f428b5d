"""A second name for code: the same code object, said to be for a target with the same instructions. Unofficial.

In a code object of version 4 or newer, two places name the target: e_flags, and `amdhsa.target` in the metadata note.
Source: LLVM's AMDGPUUsage, "ELF Code Object" and "Code Object Metadata".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rocm_sdk import _native, targets
from rocm_sdk.errors import UnknownTargetError

from .bundles import Change, Entry
from .elf64 import HEADER, PT_NOTE, SEGMENT, align_up
from .refusal import refusal

_FLAGS_AT = 48
_MACH = 0xFF
_VERSION_4 = 2  # EI_ABIVERSION
_NOTE = struct.Struct("<III")
_METADATA = 32  # NT_AMDGPU_METADATA
_OWNER = b"AMDGPU\0"
_KEY = b"\xadamdhsa.target"  # in msgpack
_NOTE_LIMIT = 1 << 26


class Pair(NamedTuple):
    """Code for `code` is offered for `gpu` too. Both are names of processors."""

    code: str
    gpu: str


def parse_pair(text: str) -> Pair:
    """ "gfx1030:gfx1031". Raises UnknownTargetError where the second is not known to run the code of the first."""
    code, _, gpu = text.partition(":")
    pair = Pair(targets.lookup(code).name, targets.lookup(gpu).name)
    one, other = targets.lookup(code), targets.lookup(gpu)
    fits = _native.compatibility(pair.code, pair.gpu, None, True).fit == "unofficial"
    if not fits or (one.xnack, one.sramecc, one.major) != (other.xnack, other.sramecc, other.major):
        raise UnknownTargetError(
            f"{pair.gpu} is not known to have the instructions of {pair.code}", "see `Retargeting` in the documentation"
        )
    return pair


def retargeted(entries: Sequence[Entry], found: dict[str, _native.DeviceImage], pair: Pair, path: str) -> list[Entry]:
    """New entries of a bundle, for the targets that it lacks. found: the images by the IDs of entries."""
    present = {image.target for image in found.values()}
    new = []
    for entry in entries:
        image = found.get(entry.name)
        if image is None or image.target.partition(":")[0] != pair.code:
            continue
        target = pair.gpu + image.target[len(pair.code) :]
        if target not in present:
            name = entry.id.replace(pair.code.encode(), pair.gpu.encode())
            new.append(entry._replace(id=name, changes=tuple(_changes(entry, pair, path))))
    return new


def _changes(entry: Entry, pair: Pair, path: str) -> Iterator[Change]:
    header = os.pread(entry.descriptor, HEADER.size, entry.offset)
    if entry.size < HEADER.size or header[:4] != b"\x7fELF" or header[8] < _VERSION_4:
        raise refusal(
            path, f"its code for {pair.code} is no code object of version 4 or newer, which alone can be retargeted"
        )
    (flags,) = struct.unpack_from("<I", header, _FLAGS_AT)
    if flags & _MACH != targets.lookup(pair.code).mach:
        raise refusal(path, f"its code for {pair.code} says itself that it is for another target")
    mach = targets.lookup(pair.gpu).mach
    yield Change(_FLAGS_AT, struct.pack("<I", flags & ~_MACH | mach))
    yield _metadata_change(entry, header, pair, path)


def _metadata_change(entry: Entry, header: bytes, pair: Pair, path: str) -> Change:
    before, after = (f"amdgcn-amd-amdhsa--{name}".encode() for name in pair)
    for offset, data in _notes(entry, header, path):
        at = data.find(_KEY)
        if at < 0:
            continue
        place = at + len(_KEY)
        size, start = _text_at(data, place)
        is_named = data[start : start + len(before)] == before and size >= len(before) == len(after)
        if is_named and data.count(_KEY) == 1:
            return Change(offset + start, after)
    raise refusal(path, f"the metadata of its code for {pair.code} does not name the target as it should")


def _text_at(data: bytes, place: int) -> tuple[int, int]:
    """Size and start of the text that begins there in msgpack; (0, 0) where there is none."""
    kind = data[place] if place < len(data) else 0
    if kind & 0xE0 == 0xA0:
        return kind & 0x1F, place + 1
    return (data[place + 1], place + 2) if kind == 0xD9 and place + 1 < len(data) else (0, 0)


def _notes(entry: Entry, header: bytes, path: str) -> Iterator[tuple[int, bytes]]:
    """The metadata notes of a code object: (offset in it, description)."""
    fields = HEADER.unpack(header)
    table, count = fields[5], fields[10]
    if table + count * SEGMENT.size > entry.size:
        raise refusal(path, "the headers of a code object lie outside it")
    rows = os.pread(entry.descriptor, count * SEGMENT.size, entry.offset + table)
    for kind, _, offset, _, _, size, _, align in SEGMENT.iter_unpack(rows):
        if kind != PT_NOTE:
            continue
        if offset + size > entry.size or size > _NOTE_LIMIT:
            raise refusal(path, "a note of a code object lies outside it")
        yield from _descriptions(os.pread(entry.descriptor, size, entry.offset + offset), offset, max(4, align))


def _descriptions(data: bytes, start: int, align: int) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + _NOTE.size <= len(data):
        owner_size, size, kind = _NOTE.unpack_from(data, position)
        owner = position + _NOTE.size
        description = align_up(owner + owner_size, align)
        if kind == _METADATA and data[owner : owner + owner_size] == _OWNER:
            yield start + description, data[description : description + size]
        position = align_up(description + size, align)
