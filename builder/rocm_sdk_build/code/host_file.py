"""A new library or program with other bundles in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.fit.code.note import NOTE_SECTION
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import Piece, write_all

from .elf64 import SHT_NOBITS, Elf
from .file_pieces import write_pieces
from .header_room import edit_tags
from .layout import Layout, lay_out
from .new_bundles import NewBundle, place_in_row
from .tables import section_order, write_tables
from .wrappers import FAT, SPLIT, Edit, Form, Wrapper, edit_magic, edit_symbols, edit_wrappers, read_wrappers

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle

_NOTE_SECTION = NOTE_SECTION.encode()


class HostFile(NamedTuple):
    """A library or program, and the place of its code."""

    elf: Elf
    code: int  # index of the section of code
    wrappers: tuple[Wrapper, ...]


class Placed(NamedTuple):
    """A bundle of the old file, and the bundle in its place."""

    address: int  # address of the old bundle
    align: int
    new: NewBundle


class _Content(NamedTuple):
    """The content in the place of the code."""

    form: Form
    size: int
    places: Mapping[int, tuple[int, int]]  # address of an old bundle -> offset and size of its replacement


def read_host_file(elf: Elf, form: Form = FAT) -> HostFile:
    """Return a library or program whose code has this form.

    The code must be in bundles of its own section, found by wrappers (FAT), or named by a section of its own (SPLIT).
    Raise RewriteError for any other file.
    """
    index = elf.find(form.section)
    if index is None or elf.sections[index].type == SHT_NOBITS or not elf.sections[index].is_loaded:
        raise refusal(elf.path, f"it has no section of GPU code ({form.section.decode()})")
    return HostFile(elf, index, read_wrappers(elf, elf.sections[index], form.magic))


def addresses_of(host: HostFile, bundles: Iterable[DeviceBundle]) -> list[int]:
    """Return the addresses at which the bundles are loaded.

    Raise RewriteError for a file that has other bundles, or whose wrappers lead elsewhere.
    """
    section = host.elf.sections[host.code]
    addresses = []
    for found in bundles:
        if found.section != section.name.decode():
            raise refusal(host.elf.path, f"its section {found.section} has code too, which is not rewritten")
        addresses.append(section.address + found.offset - section.offset)
    if not {wrapper.bundle for wrapper in host.wrappers}.issubset(addresses):
        raise refusal(host.elf.path, "a wrapper leads to something else than a bundle")
    return addresses


def write_host_file(host: HostFile, bundles: Sequence[Placed], note: bytes, output: int) -> None:
    """Write the new file to the descriptor `output`, which is an empty file.

    `bundles` are all bundles of the old file, in order.
    """
    offsets, size = place_in_row((each.align, each.new.size) for each in bundles)
    places = {each.address: (offset, each.new.size) for each, offset in zip(bundles, offsets, strict=True)}
    content = _write(host, _Content(FAT, size, places), (), note, output)
    for each, offset in zip(bundles, offsets, strict=True):
        write_pieces(output, [piece.at(content + offset) for piece in each.new.pieces], host.elf.path)


def write_split_file(host: HostFile, marker: bytes, note: bytes, output: int) -> None:
    """Write the new file without its code.

    `marker` names the archives that have the code; all wrappers lead to the marker.
    """
    places = {wrapper.bundle: (0, len(marker)) for wrapper in host.wrappers}
    edits = edit_magic(host.elf, host.wrappers)
    write_all(output, marker, _write(host, _Content(SPLIT, len(marker), places), edits, note, output))


def _write(host: HostFile, content: _Content, more: Iterable[Edit], note: bytes, output: int) -> int:
    """Write all parts of a file except the content; return the offset of the room for the content."""
    elf = host.elf
    layout = _renamed(lay_out(elf, host.code, content.size, len(note)), host.code, content.form.section)
    new = {address: (layout.content_address + offset, size) for address, (offset, size) in content.places.items()}
    for copy in layout.copies:
        write_pieces(output, [Piece(copy.target, elf.descriptor, copy.start, copy.end - copy.start)], elf.path)
    order = section_order(elf, layout)
    edits = chain(  # single edits, since tables of symbols may be large
        edit_wrappers(elf, host.wrappers, {address: place for address, (place, _) in new.items()}),
        more,
        edit_tags(elf, layout.moved),
        edit_symbols(elf, host.code, new, layout.moved, order),
    )
    write_tables(elf, layout, order, edits, output)
    write_all(output, note, next(each.offset for each in layout.sections if each.name == _NOTE_SECTION))
    return layout.content


def _renamed(layout: Layout, index: int, name: bytes) -> Layout:
    sections = list(layout.sections)
    sections[index] = replace(sections[index], name=name)
    return replace(layout, sections=tuple(sections))
