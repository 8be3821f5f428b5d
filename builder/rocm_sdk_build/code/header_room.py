"""The room for a longer table of program headers, behind the ELF header.

`strip` and `objcopy` damage files that have the table elsewhere. Sections that stand in the room move: notes within the
first page, tables of the dynamic linker to any place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rocm_sdk.fit.code.refusal import refusal

from .elf64 import (
    ADDRESS_TAGS,
    DYNAMIC,
    PF_R,
    PT_LOAD,
    PT_PHDR,
    SEGMENT,
    SHT_DYNAMIC,
    SHT_DYNSYM,
    SHT_GNU_HASH,
    SHT_GNU_VERDEF,
    SHT_GNU_VERNEED,
    SHT_GNU_VERSYM,
    SHT_HASH,
    SHT_NOTE,
    SHT_RELA,
    SHT_RELR,
    SHT_STRTAB,
    Elf,
    Segment,
    align_up,
)
from .wrappers import Edit

HEADERS_AT = 64
# Tables that the dynamic linker finds by a tag, so that they can lie at any place.
_TABLES = (
    *(SHT_HASH, SHT_GNU_HASH, SHT_DYNSYM, SHT_STRTAB, SHT_RELA, SHT_RELR),
    *(SHT_GNU_VERSYM, SHT_GNU_VERNEED, SHT_GNU_VERDEF),
)
_INTERPRETER = b".interp"
_NEAR_LIMIT = 64  # sections that stay in the first page


class NoRoomError(Exception):
    """The error for a file without a place for sections that have to move."""


class Place(NamedTuple):
    """The new place of a section."""

    offset: int
    address: int


class Room(NamedTuple):
    """The sections that move for a longer table."""

    first: Segment  # the segment that begins with the ELF header
    places: dict[int, Place]  # places of sections that stay in the first page, by their indices
    tail: tuple[int, ...]  # sections that go to another place
    cleared: tuple[int, int]  # offsets of bytes that were moved, or are the table


def make_room(elf: Elf, more: int) -> Room:
    """Return the room for `more` program headers.

    Raise NoRoomError if there is no place, and RewriteError for a file with a section that cannot be moved.
    """
    first = next((each for each in elf.loads() if each.offset == 0), None)
    table_end = HEADERS_AT + (len(elf.segments) + more) * SEGMENT.size
    if first is None or first.file_size < table_end:
        raise refusal(elf.path, "no segment begins with its ELF header")
    tagged = {value for _, _, value in address_tags(elf)}
    standing, near, tail = _sections_of(elf, first), list[int](), list[int]()
    while True:
        places, end = _place_near(elf, near, first.address + table_end)
        if not standing or end <= elf.sections[standing[0]].address:
            break
        index = standing.pop(0)
        (near if _stays_near(elf, index, tagged) else tail).append(index)
        if len(near) > _NEAR_LIMIT:
            raise refusal(elf.path, "more notes stand where headers would go than any library has")
    if end > first.end:
        raise NoRoomError
    cleared = elf.sections[standing[0]].offset if standing else first.file_size
    found = {index: Place(first.offset + address - first.address, address) for index, address in places.items()}
    return Room(first, found, tuple(tail), (HEADERS_AT, cleared))


def place_tail(elf: Elf, tail: Sequence[int], address: int, shift: int) -> tuple[dict[int, Place], int]:
    """Return places for sections from an address on, and the address behind them.

    `shift` is the distance from addresses to offsets. Symbols come last: a reader that finds no count assumes that they
    fill the rest of their segment.
    """
    places = {}
    for index in sorted(tail, key=lambda index: elf.sections[index].type == SHT_DYNSYM):
        section = elf.sections[index]
        address = align_up(address, max(1, section.align))
        places[index] = Place(address + shift, address)
        address += section.size
    return places, address


def insert_load(segments: list[Segment], extra: Segment) -> None:
    """Add a loaded segment of the highest address, in its place in the table."""
    last = max(i for i, segment in enumerate(segments) if segment.type == PT_LOAD)
    segments.insert(last + 1, extra)


def with_own_header(elf: Elf, segments: list[Segment], first: Segment) -> list[Segment]:
    """Return the headers of a new file, with a header of their own table (PT_PHDR) if the old file has one."""
    if all(segment.type != PT_PHDR for segment in elf.segments):
        return segments
    size = (len(segments) + 1) * SEGMENT.size
    address = first.address + HEADERS_AT
    return [Segment(PT_PHDR, PF_R, HEADERS_AT, address, address, size, size, 8), *segments]


def _sections_of(elf: Elf, segment: Segment) -> list[int]:
    """Return the indices of the sections that are loaded with a segment behind the ELF header, by address."""
    found = [
        (section.address, index)
        for index, section in enumerate(elf.sections)
        if section.is_loaded and section.file_size and segment.holds(section.address, section.size)
    ]
    return [index for _, index in sorted(found)]


def _stays_near(elf: Elf, index: int, tagged: set[int]) -> bool:
    """Return whether a section in the way stays in the first page.

    Raise RewriteError for a section that cannot be moved at all.
    """
    section = elf.sections[index]
    if section.type == SHT_NOTE or section.name == _INTERPRETER:
        return True
    if section.type not in _TABLES or section.address not in tagged:
        raise refusal(elf.path, f"its section {section.shown} stands where headers would go")
    return False


def _place_near(elf: Elf, near: Sequence[int], address: int) -> tuple[dict[int, int], int]:
    """Return new addresses of sections that stay in the first page, and the address behind them.

    Sections that one program header covers keep their distances.
    """
    places: dict[int, int] = {}
    for run in _runs(elf, near):
        start = elf.sections[run[0]].address
        align = max(_alignments(elf, run))
        distance = max(0, align_up(address - start, align))
        for index in run:
            places[index] = elf.sections[index].address + distance
            address = places[index] + elf.sections[index].size
    return places, address


def _runs(elf: Elf, near: Sequence[int]) -> list[list[int]]:
    """Return sections, by address, grouped where program headers cover several."""
    runs: list[list[int]] = []
    for index in near:
        if runs and any(
            segment.type != PT_LOAD
            and segment.holds(elf.sections[runs[-1][-1]].address, 1)
            and segment.holds(elf.sections[index].address, 1)
            for segment in elf.segments
        ):
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _alignments(elf: Elf, run: Sequence[int]) -> Iterator[int]:
    yield 1
    for index in run:
        section = elf.sections[index]
        yield section.align
        yield from (s.align for s in elf.segments if s.type != PT_LOAD and s.holds(section.address, 1))


# ---- dynamic tags ----


def address_tags(elf: Elf) -> Iterator[tuple[int, int, int]]:
    """Yield the entries of the dynamic section whose value is the address of a table.

    An entry is (section, offset of the value, value).
    """
    for index, section in enumerate(elf.sections):
        if section.type == SHT_DYNAMIC:
            data = elf.read(section)
            for position in range(0, len(data) - DYNAMIC.size + 1, DYNAMIC.size):
                tag, value = DYNAMIC.unpack_from(data, position)
                if tag == 0:
                    break
                if tag in ADDRESS_TAGS:
                    yield index, position + 8, value


def edit_tags(elf: Elf, moved: dict[int, int]) -> Iterator[Edit]:
    """Yield new values of the tags whose tables move."""
    distances = {elf.sections[index].address: distance for index, distance in moved.items()}
    for section, offset, value in address_tags(elf):
        if value in distances:
            yield Edit(section, offset, (value + distances[value]).to_bytes(8, "little"))
