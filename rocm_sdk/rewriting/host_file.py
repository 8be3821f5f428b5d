"""A new library or program with other bundles in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .bundles import NewBundle
from .elf64 import (
    HEADER,
    SECTION,
    SHF_INFO_LINK,
    SHT_GROUP,
    SHT_NOBITS,
    SHT_REL,
    SHT_RELA,
    SHT_SYMTAB_SHNDX,
    Elf,
    align_up,
    pack_sections,
    pack_segments,
    read_exactly,
)
from .layout import HEADERS_AT, Layout, edit_tags, lay_out
from .note import NOTE_SECTION
from .pieces import Piece, write_all, write_pieces
from .refusal import refusal
from .wrappers import Edit, Wrapper, edit_symbols, edit_wrappers, read_wrappers

_NOTE_SECTION = NOTE_SECTION.encode()
SECTION_OF_CODE = b".hip_fatbin"
_INDEXED = (SHT_GROUP, SHT_SYMTAB_SHNDX)  # their content is indices of sections


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
    offsets, size = _place_bundles(bundles)
    layout = lay_out(elf, host.code, size, len(note))
    addresses = {each.address: layout.content_address + offset for each, offset in zip(bundles, offsets, strict=True)}
    for copy in layout.copies:
        write_pieces(output, [Piece(copy.target, elf.descriptor, copy.start, copy.end - copy.start)], elf.path)
    for start, end in layout.blanks:
        write_all(output, bytes(end - start), start)
    for each, offset in zip(bundles, offsets, strict=True):
        write_pieces(output, [piece.at(layout.content + offset) for piece in each.new.pieces], elf.path)
    _write_moved_sections(elf, layout, output)
    order = _order(elf, layout)
    _write_headers(elf, layout, order, note, output)
    sizes = {each.address: (addresses[each.address], each.new.size) for each in bundles}
    edits = [
        *edit_wrappers(elf, host.wrappers, addresses),
        *edit_tags(elf, layout.moved),
        *edit_symbols(elf, host.code, sizes, layout.moved, order),
    ]
    _write_edits(layout, edits, output)
    return layout


def _place_bundles(bundles: Sequence[Placed]) -> tuple[list[int], int]:
    offsets, position = [], 0
    for each in bundles:
        position = align_up(position, each.align)
        offsets.append(position)
        position += each.new.size
    return offsets, position


def _write_moved_sections(elf: Elf, layout: Layout, output: int) -> None:
    for index, section in enumerate(elf.sections):
        if index in layout.moved:
            data = read_exactly(elf.descriptor, section.offset, section.size, elf.path)
            write_all(output, data, layout.sections[index].offset)


def _order(elf: Elf, layout: Layout) -> dict[int, int]:
    """Old index of a section -> new one, by their places in the file: some tools take the one for the other."""
    for section in elf.sections:
        if section.type in _INDEXED:
            raise refusal(elf.path, f"its section {section.shown} counts sections")
    indices = sorted(range(1, len(layout.sections)), key=lambda index: (layout.sections[index].offset, index))
    return {0: 0, **{old: new for new, old in enumerate(indices, 1)}}


def _write_headers(elf: Elf, layout: Layout, order: Mapping[int, int], note: bytes, output: int) -> None:
    """The ELF header, both tables, the names of sections, and the note."""
    names = elf.read(elf.sections[elf.names_index])
    places = list(layout.sections)
    if len(places) > len(elf.sections):
        places[-1] = replace(places[-1], name_offset=len(names))
        names += _NOTE_SECTION + b"\0"
    names_at = layout.end
    places[elf.names_index] = replace(places[elf.names_index], offset=names_at, size=len(names))
    sections = list(places)
    for index, section in enumerate(places):
        names_section = section.type in (SHT_REL, SHT_RELA) or section.flags & SHF_INFO_LINK
        link, info = order.get(section.link, section.link), section.info
        sections[order[index]] = replace(section, link=link, info=order.get(info, info) if names_section else info)
    table_at = align_up(names_at + len(names), 8)
    header = list(elf.header)
    header[4], header[5] = HEADERS_AT, table_at
    header[9], header[11], header[12] = len(layout.segments), len(sections), order[elf.names_index]
    write_all(output, HEADER.pack(elf.ident, *header), 0)
    write_all(output, pack_segments(list(layout.segments)), HEADERS_AT)
    write_all(output, note, next(each.offset for each in sections if each.name == _NOTE_SECTION))
    write_all(output, names, names_at)
    write_all(output, pack_sections(sections), table_at)
    os.ftruncate(output, table_at + len(sections) * SECTION.size)


def _write_edits(layout: Layout, edits: Sequence[Edit], output: int) -> None:
    for edit in edits:
        write_all(output, edit.data, layout.offset_of(edit.section, edit.offset))
