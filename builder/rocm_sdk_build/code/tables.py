"""The writer of a rewritten file's headers, and of the tables that name addresses in the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import write_all

from .elf64 import (
    HEADER,
    SECTION,
    SHF_INFO_LINK,
    SHT_GROUP,
    SHT_REL,
    SHT_RELA,
    SHT_SYMTAB_SHNDX,
    Elf,
    align_up,
    pack_sections,
    pack_segments,
)
from .header_room import HEADERS_AT
from .layout import Layout
from .wrappers import Edit

_INDEXED = (SHT_GROUP, SHT_SYMTAB_SHNDX)  # tables of section indices


def write_tables(elf: Elf, layout: Layout, order: Mapping[int, int], edits: Iterable[Edit], output: int) -> None:
    """Write all parts except the new content.

    The output may be the very file from which `elf` was read. `order` maps the old index of a section to the new one.
    """
    names, moved = elf.read(elf.sections[elf.names_index]), _moved_sections(elf, layout)
    for start, end in layout.blanks:
        write_all(output, bytes(end - start), start)
    for offset, data in moved:
        write_all(output, data, offset)
    _write_headers(elf, layout, order, names, output)
    for edit in edits:
        write_all(output, edit.data, layout.offset_of(edit.section, edit.offset))


def _moved_sections(elf: Elf, layout: Layout) -> list[tuple[int, bytes]]:
    """Return the sections that move, with their new offsets."""
    return [
        (layout.sections[index].offset, elf.read(section))
        for index, section in enumerate(elf.sections)
        if index in layout.moved
    ]


def section_order(elf: Elf, layout: Layout) -> dict[int, int]:
    """Return the new index of each section, by the places in the file: some tools take the one order for the other.

    Raise RewriteError for a file with a section that counts sections.
    """
    for section in elf.sections:
        if section.type in _INDEXED:
            raise refusal(elf.path, f"its section {section.shown} counts sections")
    indices = sorted(range(1, len(layout.sections)), key=lambda index: (layout.sections[index].offset, index))
    return {0: 0, **{old: new for new, old in enumerate(indices, 1)}}


def _write_headers(elf: Elf, layout: Layout, order: Mapping[int, int], names: bytes, output: int) -> None:
    """Write the ELF header, both tables and the names of sections."""
    places = list(layout.sections)
    for index, section in enumerate(places):
        if index >= len(elf.sections) or section.name != elf.sections[index].name:
            places[index] = replace(section, name_offset=len(names))
            names += section.name + b"\0"
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
    write_all(output, names, names_at)
    write_all(output, pack_sections(sections), table_at)
    os.ftruncate(output, table_at + len(sections) * SECTION.size)
