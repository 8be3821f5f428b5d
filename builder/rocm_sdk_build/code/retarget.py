"""A second name for code: the same code object, declared for a target with the same instructions. Unofficial.

In a code object of version 4 or newer, two places name the target: e_flags, and `amdhsa.target` in the metadata note.
Source: LLVM's AMDGPUUsage, "ELF Code Object" and "Code Object Metadata".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import targets
from rocm_sdk.errors import RewriteError
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.installed.readers import compatibility

from .bundles import Change, Entry
from .code_object import read_header, read_notes

if TYPE_CHECKING:
    from rocm_sdk import DeviceImage

_FLAGS, _FLAGS_AT = 7, 48  # e_flags: index of the field in the header, and its offset
_ABI_VERSION_AT = 8  # place in e_ident
_MACH = 0xFF
_VERSION_4 = 2  # EI_ABIVERSION
_KEY = b"\xadamdhsa.target"  # key in msgpack


class Pair(NamedTuple):
    """A processor whose code is offered for another one too: `code` and `gpu` are names of processors."""

    code: str
    gpu: str


def parse_pair(text: str) -> Pair:
    """Return the pair in a text such as "gfx1030:gfx1031".

    Raise RewriteError if the second processor is not known to run the code of the first.
    """
    code, _, gpu = text.partition(":")
    pair = Pair(targets.lookup(code).name, targets.lookup(gpu).name)
    one, other = targets.lookup(code), targets.lookup(gpu)
    fits = compatibility(pair.code, pair.gpu, None, True).fit == "unofficial"
    if not fits or (one.xnack, one.sramecc, one.major) != (other.xnack, other.sramecc, other.major):
        raise RewriteError(
            f"{pair.gpu} is not known to have the instructions of {pair.code}", "see `Retargeting` in the documentation"
        )
    return pair


def retargeted(entries: Sequence[Entry], found: dict[str, DeviceImage], pair: Pair, path: str) -> list[Entry]:
    """Return new entries of a bundle, for the targets that it lacks.

    `found` has the images by the IDs of entries. Raise RewriteError for code that cannot be retargeted.
    """
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
    header = read_header(entry)
    if header is None or header[0][_ABI_VERSION_AT] < _VERSION_4:
        raise refusal(
            path, f"its code for {pair.code} is not a code object of version 4 or newer: only these can be retargeted"
        )
    flags = header[_FLAGS]
    if flags & _MACH != targets.lookup(pair.code).mach:
        raise refusal(path, f"its code for {pair.code} says itself that it is for another target")
    mach = targets.lookup(pair.gpu).mach
    yield Change(_FLAGS_AT, struct.pack("<I", flags & ~_MACH | mach))
    yield _metadata_change(entry, pair, path)


def _metadata_change(entry: Entry, pair: Pair, path: str) -> Change:
    before, after = (f"amdgcn-amd-amdhsa--{name}".encode() for name in pair)
    for note in read_notes(entry, path):
        data = note.description
        at = data.find(_KEY)
        if at < 0:
            continue
        place = at + len(_KEY)
        size, start = _text_at(data, place)
        is_named = data[start : start + len(before)] == before and size >= len(before) == len(after)
        if is_named and data.count(_KEY) == 1:
            return Change(note.offset + start, after)
    raise refusal(path, f"the metadata of its code for {pair.code} does not name the target as it should")


def _text_at(data: bytes, place: int) -> tuple[int, int]:
    """Return size and start of the text in msgpack that begins at `place`; (0, 0) if no text begins there."""
    kind = data[place] if place < len(data) else 0
    if kind & 0xE0 == 0xA0:
        return kind & 0x1F, place + 1
    return (data[place + 1], place + 2) if kind == 0xD9 and place + 1 < len(data) else (0, 0)
