"""The layout of a rewritten library: the place of each part in the file and in memory.

An address of the library changes only for the bundles, for our note, and for the dynamic linker's own tables that stand
where the longer table of program headers goes. Offsets in the file behind the code change by a multiple of the largest
alignment of a segment, so that each still fits its address:

    before   | headers, tables | ... | code                          | what follows | next segments
    after    | headers, tables | ... | kept code, moved tables, note | what follows | next segments

A second PT_LOAD loads the bytes that follow the code in its segment, at their old address. A segment of its own at the
end takes code that does not fit into its old place, and tables that do not fit beside the code.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from rocm_sdk.fit.code.note import NOTE_SECTION
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import data_ranges, read_range

from .elf64 import (
    PF_R,
    PT_LOAD,
    PT_NOTE,
    PT_PHDR,
    SECTION,
    SEGMENT,
    SHF_ALLOC,
    SHT_NOTE,
    Elf,
    Section,
    Segment,
    align_down,
    align_up,
)
from .header_room import HEADERS_AT, NoRoomError, Place, insert_load, make_room, place_tail, with_own_header

_NOTE_SECTION = NOTE_SECTION.encode()
_NOTE_ALIGN = 4
_PAGE = 4096
_LARGEST_ALIGN = 1 << 30


class Range(NamedTuple):
    """Bytes of the old file that the new file has at another offset."""

    start: int
    end: int
    target: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of the new file, and the new places of the old file's bytes."""

    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    copies: tuple[Range, ...]
    blanks: tuple[tuple[int, int], ...]  # [start, end) of the new file: copied with others, and cleared
    content: int  # offset of the code in the new file
    content_address: int
    moved: dict[int, int]  # index of a section -> distance that its address moves
    end: int  # offset behind which the names and headers of sections go

    def offset_of(self, index: int, offset: int) -> int:
        """Return the offset of a section's byte in the new file."""
        return self.sections[index].offset + offset


def lay_out(elf: Elf, code: int, size: int, note_size: int) -> Layout:
    """Return the layout for new code and a new note.

    The code has `size` bytes, in the section with the index `code`, and the note has `note_size` bytes. Raise
    RewriteError if there is no room for the headers.
    """
    for way in (_Way(False, True), _Way(False, False), _Way(True, True), _Way(True, False)):
        with suppress(NoRoomError):
            return _Planner(elf, code, size, note_size, way).plan()
    raise refusal(elf.path, "there is no room for the headers that it would need")


class _Gap(NamedTuple):
    kept_end: int  # address behind the kept code and the tables beside it
    end: int  # offset from which the old file goes on in the new file
    distance: int  # distance that the rest moves to the front


class _Way(NamedTuple):
    at_end: bool  # moved parts go into a segment at the end
    split: bool  # bytes behind the code get a segment of their own


class _Planner:
    def __init__(self, elf: Elf, code: int, size: int, note_size: int, way: _Way) -> None:
        section = elf.sections[code]
        load = elf.load_of(section.address, section.size)
        if load is None or section.offset - load.offset != section.address - load.address:
            raise refusal(elf.path, f"its section {section.name.decode()} is not loaded with a segment")
        self.elf, self.code, self.size, self.note_size = elf, code, size, note_size
        self.section, self.load = section, load
        self.at_end, self.split = way
        self.page = largest_align(elf)
        self.grows = size > section.size
        self.note = elf.find(_NOTE_SECTION)
        self.moved: dict[int, Place] = {}  # index of a section -> its new place
        self.tail: tuple[int, ...] = ()
        self.shift = load.offset - load.address  # of the code's segment: offset = address + shift
        self._refuse_overlaps()

    def _refuse_overlaps(self) -> None:
        """Raise RewriteError if another section or segment than the code's own overlaps the code."""
        code = self.section
        for section in self.elf.sections:
            if section is not code and _overlap(section.offset, section.file_size, code.offset, code.size):
                raise refusal(self.elf.path, f"its section {section.shown} overlaps its code")
        for segment in self.elf.segments:
            if segment is not self.load and _overlap(segment.offset, segment.file_size, code.offset, code.size):
                raise refusal(self.elf.path, f"a segment of type {segment.type:#x} overlaps its code")

    def plan(self) -> Layout:
        if self.grows and not self.at_end:
            raise NoRoomError
        limit = self.section.address + self.section.size
        followed = limit < self.load.address + self.load.memory_size
        if self.split and not followed:
            raise NoRoomError
        room = make_room(self.elf, self.split + self.at_end + (self.note is None))
        self.tail, self.moved = room.tail, dict(room.places)
        kept_end = self.section.address + (0 if self.grows else self.size)
        if not self.at_end:
            kept_end = self._place_tail(kept_end, self.shift)
        if kept_end > limit:
            raise NoRoomError
        gap_end, distance = self._gap(kept_end, limit, followed)
        if self.split and distance == 0:
            raise NoRoomError
        return self._assemble(room.first, room.cleared, _Gap(kept_end, gap_end, distance))

    def _gap(self, kept_end: int, limit: int, followed: bool) -> tuple[int, int]:
        """Return the offset from which the old file goes on in the new file, and the distance that the rest moves.

        The rest moves to the front.
        """
        end = limit + self.shift
        if not followed:
            return end, align_down(limit - kept_end, self.page)
        if not self.split:
            return end, 0
        page_after, page_before = align_up(kept_end, self.page), align_down(limit, self.page)
        return (page_before + self.shift, page_before - page_after) if page_before > page_after else (end, 0)

    # ---- parts that go behind the code, or to the end ----

    def _place_tail(self, address: int, shift: int) -> int:
        """Give places to the note and to the tables that move; return the address behind them."""
        address = align_up(address, _NOTE_ALIGN)
        self.note_place = (address + shift, address)
        address += self.note_size
        places, address = place_tail(self.elf, self.tail, address, shift)
        self.moved |= places
        return address

    # ---- the tables ----

    def _assemble(self, first: Segment, cleared: tuple[int, int], gap: _Gap) -> Layout:
        _, gap_end, distance = gap
        elf = self.elf
        end = end_of_content(self.elf)
        limit = self.section.address + self.section.size
        code_place = (self.section.offset, self.section.address)
        extra: Segment | None = None
        if self.at_end:
            start = align_up(max(each.address + each.memory_size for each in elf.loads()), self.page)
            offset = align_up(end - distance, self.page)
            address = start
            if self.grows:
                code_place = (offset, start)
                address += self.size
            tail_end = self._place_tail(address, offset - start)
            extra = Segment(PT_LOAD, PF_R, offset, start, start, tail_end - start, tail_end - start, self.page)
            end = offset + tail_end - start + distance
        sections = self._sections(code_place, gap_end, distance)
        segments = self._segments(first, gap, extra)
        blanks = [cleared, (gap_end - distance, limit + self.shift - distance)]
        if self.note is not None:
            old = elf.sections[self.note]
            start = old.offset - (distance if old.offset >= gap_end else 0)
            blanks.append((start, start + old.size))
        blanks += [
            (start - distance, end - distance) if start >= gap_end else (start, end) for start, end in stale_tables(elf)
        ]
        copies = (
            Range(0, self.section.offset, 0),
            Range(gap_end, end_of_content(self.elf), gap_end - distance),
        )
        moved = {
            index: address - elf.sections[index].address
            for index, (_, address) in self.moved.items()
            if address != elf.sections[index].address
        }
        content, content_address = code_place
        return Layout(
            segments=tuple(segments),
            sections=tuple(sections),
            copies=copies,
            blanks=tuple(blanks),
            content=content,
            content_address=content_address,
            moved=moved,
            end=end - distance,
        )

    def _sections(self, code_place: tuple[int, int], gap_end: int, distance: int) -> list[Section]:
        sections = []
        for index, section in enumerate(self.elf.sections):
            if index == self.code:
                offset, address = code_place
                sections.append(replace(section, offset=offset, address=address, size=self.size))
            elif index == self.note:
                offset, address = self.note_place
                sections.append(replace(section, offset=offset, address=address, size=self.note_size))
            elif index in self.moved:
                offset, address = self.moved[index]
                sections.append(replace(section, offset=offset, address=address))
            else:
                far = section.offset >= gap_end and distance
                sections.append(replace(section, offset=section.offset - distance) if far else section)
        if self.note is None:
            offset, address = self.note_place
            sections.append(
                Section(_NOTE_SECTION, 0, SHT_NOTE, SHF_ALLOC, address, offset, self.note_size, 0, 0, _NOTE_ALIGN, 0)
            )
        return sections

    def _segments(self, first: Segment, gap: _Gap, extra: Segment | None) -> list[Segment]:
        _, gap_end, distance = gap
        segments: list[Segment] = []
        for segment in self.elf.segments:
            if segment is self.load:
                segments += self._parts_of_load(gap)
                continue
            if segment.type == PT_PHDR:
                continue  # made anew, for the table's new length
            segments.append(self._moved_segment(segment, gap_end, distance))
        if extra is not None:
            insert_load(segments, extra)
        offset, address = self.note_place
        if self.note is None:
            segments.append(
                Segment(PT_NOTE, PF_R, offset, address, address, self.note_size, self.note_size, _NOTE_ALIGN)
            )
        return with_own_header(self.elf, segments, first)

    def _parts_of_load(self, gap: _Gap) -> list[Segment]:
        kept_end, gap_end, distance = gap
        load = self.load
        if distance == 0:
            return [load]
        size = kept_end - load.address
        if not self.split:
            return [replace(load, file_size=size, memory_size=size)]
        start = gap_end - self.shift
        rest = replace(
            load.moved(gap_end - distance, start),
            file_size=load.end - start,
            memory_size=load.address + load.memory_size - start,
        )
        return [replace(load, file_size=size, memory_size=size), rest]

    def _moved_segment(self, segment: Segment, gap_end: int, distance: int) -> Segment:
        if segment.type == PT_NOTE and self.note is not None:
            old = self.elf.sections[self.note]
            if (segment.offset, segment.file_size) == (old.offset, old.size):
                return replace(segment.moved(*self.note_place), file_size=self.note_size, memory_size=self.note_size)
        for index, (offset, address) in self.moved.items():
            section = self.elf.sections[index]
            if segment.type != PT_LOAD and segment.file_size and segment.offset == section.offset:
                return segment.moved(offset, address)
        # A segment without bytes moves too: thread-local data that is all zero has a place behind the code.
        return replace(segment, offset=segment.offset - distance) if segment.offset >= gap_end else segment


def largest_align(elf: Elf) -> int:
    """Return the alignment by whose multiples segments can move in the file, at least a page.

    Raise RewriteError for a file with an absurd alignment.
    """
    page = max(_PAGE, *(each.align for each in elf.loads()))
    aligns = {page, *(max(1, each.align) for each in elf.sections if each.is_loaded)}
    if any(align & (align - 1) or align > _LARGEST_ALIGN for align in aligns):
        raise refusal(elf.path, "a section or segment is aligned as none is")
    return page


def end_of_content(elf: Elf) -> int:
    """Return the offset behind which a file has only names and headers of sections, and zeros.

    Tools add the zeros to align the parts that they append. Raise RewriteError for a file that has more there.
    """
    names = elf.sections[elf.names_index]
    ends = [
        section.offset + section.file_size for section in elf.sections if section is not names and section.file_size
    ]
    end = max(ends + [segment.offset + segment.file_size for segment in elf.segments])
    table_end = elf.sections_offset + len(elf.sections) * SECTION.size
    known = align_up(max(end, names.offset + names.size, table_end), 8)
    if elf.size > known and _has_data(elf, known):
        more = elf.size - known
        raise refusal(elf.path, f"{more} bytes follow its last section, at byte {known}: the new file would lack them")
    return end


def _has_data(elf: Elf, start: int) -> bool:
    """Return whether a byte behind `start` is not zero."""
    return any(
        chunk.strip(b"\0")
        for first, end in data_ranges(elf.descriptor, start, elf.size)
        for chunk in read_range(elf.descriptor, first, end - first, elf.path)
    )


def stale_tables(elf: Elf) -> list[tuple[int, int]]:
    """Return the places of old headers and names that lie before the end of the file, and would stay there."""
    names = elf.sections[elf.names_index]
    tables = [(names.offset, names.size), (elf.sections_offset, len(elf.sections) * SECTION.size)]
    if elf.segments_offset != HEADERS_AT:
        tables.append((elf.segments_offset, len(elf.segments) * SEGMENT.size))
    end = end_of_content(elf)
    return [(start, start + size) for start, size in tables if start + size <= end]


def _overlap(start: int, size: int, other_start: int, other_size: int) -> bool:
    return size > 0 and other_size > 0 and start < other_start + other_size and other_start < start + size
