"""A new library or program with other bundles in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .bundles import NewBundle, place_in_row
from .elf64 import (
    SHT_NOBITS,
    Elf,
)
from .header_room import edit_tags
from .layout import Layout, lay_out
from .note import NOTE_SECTION
from .pieces import Piece, write_all, write_pieces
from .refusal import refusal
from .tables import section_order, write_tables
from .wrappers import Wrapper, edit_symbols, edit_wrappers, read_wrappers

_NOTE_SECTION = NOTE_SECTION.encode()
SECTION_OF_CODE = b".hip_fatbin"


class HostFile(NamedTuple):
    """A library or program, and where its code is."""

    elf: Elf
    code: int  # index of the section
    wrappers: tuple[Wrapper, ...]


class Placed(NamedTuple):
    """A bundle of the old file and what takes its place."""

    address: int  # of the old one
    align: int
    new: NewBundle


def read_host_file(elf: Elf) -> HostFile:
    """Refuses a file whose code is not in bundles of its own section, found by wrappers."""
    index = elf.find(SECTION_OF_CODE)
    if index is None or elf.sections[index].type == SHT_NOBITS or not elf.sections[index].is_loaded:
        raise refusal(elf.path, "it has no section of GPU code (.hip_fatbin)")
    return HostFile(elf, index, read_wrappers(elf, elf.sections[index]))


def write_host_file(host: HostFile, bundles: Sequence[Placed], note: bytes, output: int) -> Layout:
    """Writes the new file to the descriptor `output`, which is an empty file. bundles: all of the old one, in order."""
    elf = host.elf
    offsets, size = place_in_row((each.align, each.new.size) for each in bundles)
    layout = lay_out(elf, host.code, size, len(note))
    addresses = {each.address: layout.content_address + offset for each, offset in zip(bundles, offsets, strict=True)}
    for copy in layout.copies:
        write_pieces(output, [Piece(copy.target, elf.descriptor, copy.start, copy.end - copy.start)], elf.path)
    order = section_order(elf, layout)
    sizes = {each.address: (addresses[each.address], each.new.size) for each in bundles}
    edits = [
        *edit_wrappers(elf, host.wrappers, addresses),
        *edit_tags(elf, layout.moved),
        *edit_symbols(elf, host.code, sizes, layout.moved, order),
    ]
    write_tables(elf, layout, order, edits, output)
    for each, offset in zip(bundles, offsets, strict=True):
        write_pieces(output, [piece.at(layout.content + offset) for piece in each.new.pieces], elf.path)
    write_all(output, note, next(each.offset for each in layout.sections if each.name == _NOTE_SECTION))
    return layout
