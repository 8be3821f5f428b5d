"""Where everything of a rewritten library lies.

No address of the library changes but those of the bundles, of our note and of the dynamic linker's own tables that
stand where the longer table of program headers goes. Offsets in the file behind the code change by a multiple of the
largest alignment of a segment, so that each still fits its address:

    before   | headers, tables | ... | code                          | what follows | next segments
    after    | headers, tables | ... | kept code, moved tables, note | what follows | next segments

What follows the code in its segment is loaded by a second PT_LOAD at its old address. Code that does not fit into its
old place, and what does not fit beside it, goes into a segment of its own at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from .elf64 import (
    ADDRESS_TAGS,
    DYNAMIC,
    PF_R,
    PT_LOAD,
    PT_NOTE,
    PT_PHDR,
    SECTION,
    SEGMENT,
    SHF_ALLOC,
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
    Section,
    Segment,
    align_down,
    align_up,
)
from .note import NOTE_SECTION
from .refusal import refusal
from .wrappers import Edit

_NOTE_SECTION = NOTE_SECTION.encode()
HEADERS_AT = 64  # where the table of program headers goes: `strip` and `objcopy` damage files that have it elsewhere
_NOTE_ALIGN = 4
_PAGE = 4096
_LARGEST_ALIGN = 1 << 30
# Tables that the dynamic linker finds by a tag, so that they can lie anywhere.
_TABLES = (
    *(SHT_HASH, SHT_GNU_HASH, SHT_DYNSYM, SHT_STRTAB, SHT_RELA, SHT_RELR),
    *(SHT_GNU_VERSYM, SHT_GNU_VERNEED, SHT_GNU_VERDEF),
)
_INTERPRETER = b".interp"


class _NoRoomError(Exception):
    """What moves does not fit beside the kept code."""


class Range(NamedTuple):
    """Bytes of the old file that the new one has at another offset."""

    start: int
    end: int
    target: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of the new file, and which bytes of the old one go where."""

    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    copies: tuple[Range, ...]
    blanks: tuple[tuple[int, int], ...]  # [start, end) of the new file: bytes that are copied with others, and go
    content: int  # offset of the code in the new file
    content_address: int
    moved: dict[int, int]  # index of a section -> how far its address moves
    end: int  # behind which the names and headers of sections go

    def offset_of(self, index: int, offset: int) -> int:
        """Where a byte of a section lies in the new file."""
        return self.sections[index].offset + offset


def lay_out(elf: Elf, code: int, size: int, note_size: int) -> Layout:
    """The layout with `size` bytes of code, in the section with the index `code`, and a note of `note_size` bytes."""
    for way in (_Way(False, True), _Way(False, False), _Way(True, True), _Way(True, False)):
        with suppress(_NoRoomError):
            return _Planner(elf, code, size, note_size, way).plan()
    raise refusal(elf.path, "there is no room for the headers that it would need")


class _Gap(NamedTuple):
    kept_end: int  # the address behind the kept code and what goes beside it
    end: int  # the offset from which the old file goes on in the new one
    distance: int  # how far that moves to the front


class _Way(NamedTuple):
    at_end: bool  # what moves goes into a segment at the end
    split: bool  # what follows the code gets a segment of its own


class _Planner:
    def __init__(self, elf: Elf, code: int, size: int, note_size: int, way: _Way) -> None:
        section = elf.sections[code]
        load = elf.load_of(section.address, section.size)
        if load is None or section.offset - load.offset != section.address - load.address:
            raise refusal(elf.path, f"its section {section.name.decode()} is not loaded with a segment")
        self.elf, self.code, self.size, self.note_size = elf, code, size, note_size
        self.section, self.load = section, load
        self.at_end, self.split = way
        self.page = max(_PAGE, *(each.align for each in elf.loads()))
        aligns = {self.page, *(max(1, each.align) for each in elf.sections if each.is_loaded)}
        if any(align & (align - 1) or align > _LARGEST_ALIGN for align in aligns):
            raise refusal(elf.path, "a section or segment is aligned as none is")
        self.grows = size > section.size
        self.note = elf.find(_NOTE_SECTION)
        self.moved: dict[int, tuple[int, int]] = {}  # index of a section -> its new offset and address
        self.shift = load.offset - load.address  # of this segment: offset = address + shift
        self._refuse_overlaps()

    def _refuse_overlaps(self) -> None:
        """Nothing but its segment may lie where the code does."""
        code = self.section
        for section in self.elf.sections:
            if section is not code and _overlap(section.offset, section.file_size, code.offset, code.size):
                raise refusal(self.elf.path, f"its section {section.shown} overlaps its code")
        for segment in self.elf.segments:
            if segment is not self.load and _overlap(segment.offset, segment.file_size, code.offset, code.size):
                raise refusal(self.elf.path, f"a segment of type {segment.type:#x} overlaps its code")

    def plan(self) -> Layout:
        if self.grows and not self.at_end:
            raise _NoRoomError
        limit = self.section.address + self.section.size
        followed = limit < self.load.address + self.load.memory_size
        if self.split and not followed:
            raise _NoRoomError
        first, cleared = self._make_room(self.split + self.at_end + (self.note is None))
        kept_end = self.section.address + (0 if self.grows else self.size)
        if not self.at_end:
            kept_end = self._place_tail(kept_end, self.shift)
        if kept_end > limit:
            raise _NoRoomError
        gap_end, distance = self._gap(kept_end, limit, followed)
        if self.split and distance == 0:
            raise _NoRoomError
        return self._assemble(first, cleared, _Gap(kept_end, gap_end, distance))

    def _gap(self, kept_end: int, limit: int, followed: bool) -> tuple[int, int]:
        """The offset from which the old file goes on in the new one, and how far that moves to the front."""
        end = limit + self.shift
        if not followed:
            return end, align_down(limit - kept_end, self.page)
        if not self.split:
            return end, 0
        page_after, page_before = align_up(kept_end, self.page), align_down(limit, self.page)
        return (page_before + self.shift, page_before - page_after) if page_before > page_after else (end, 0)

    # ---- the longer table of program headers ----

    def _make_room(self, more: int) -> tuple[Segment, tuple[int, int]]:
        """Moves what stands where the table goes. Returns the first segment, and the range that is cleared."""
        first = next((each for each in self.elf.loads() if each.offset == 0), None)
        table_end = HEADERS_AT + (len(self.elf.segments) + more) * SEGMENT.size
        if first is None or first.file_size < table_end:
            raise refusal(self.elf.path, "no segment begins with its ELF header")
        self.tail: list[int] = []
        standing = self._sections_of(first)
        near: list[int] = []
        cursor = first.address + table_end
        while True:
            places, end = _place_near(self.elf, near, cursor)
            if not standing or end <= self.elf.sections[standing[0]].address:
                break
            index = standing.pop(0)
            (near if self._stays_near(index) else self.tail).append(index)
        if end > first.end:
            raise _NoRoomError
        for index, address in places.items():
            self.moved[index] = (first.offset + address - first.address, address)
        cleared = self.elf.sections[standing[0]].offset if standing else first.file_size
        return first, (HEADERS_AT, cleared)

    def _sections_of(self, segment: Segment) -> list[int]:
        """What is loaded with a segment behind the ELF header, by address."""
        found = [
            (section.address, index)
            for index, section in enumerate(self.elf.sections)
            if section.is_loaded and section.file_size and segment.holds(section.address, section.size)
        ]
        return [index for _, index in sorted(found)]

    def _stays_near(self, index: int) -> bool:
        """Whether a section in the way stays in the first page; refuses one that cannot be moved at all."""
        section = self.elf.sections[index]
        if section.type == SHT_NOTE or section.name == _INTERPRETER:
            return True
        if section.type not in _TABLES or section.address not in self._tagged():
            raise refusal(self.elf.path, f"its section {section.shown} stands where headers would go")
        return False

    def _tagged(self) -> set[int]:
        return {value for _, _, value in address_tags(self.elf)}

    # ---- what goes behind the code, or to the end ----

    def _place_tail(self, address: int, shift: int) -> int:
        """Gives places to the note and to the tables that move; returns the address behind them.

        Symbols come last: where nothing else tells how many there are, readers take them to fill their segment.
        """
        address = align_up(address, _NOTE_ALIGN)
        self.note_place = (address + shift, address)
        address += self.note_size
        for index in sorted(self.tail, key=lambda index: self.elf.sections[index].type == SHT_DYNSYM):
            section = self.elf.sections[index]
            address = align_up(address, max(1, section.align))
            self.moved[index] = (address + shift, address)
            address += section.size
        return address

    # ---- the tables ----

    def _assemble(self, first: Segment, cleared: tuple[int, int], gap: _Gap) -> Layout:
        _, gap_end, distance = gap
        elf = self.elf
        end = self._end_of_content()
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
        blanks += self._stale_tables(gap_end, distance)
        copies = (
            Range(0, self.section.offset, 0),
            Range(gap_end, self._end_of_content(), gap_end - distance),
        )
        moved = {
            index: address - elf.sections[index].address
            for index, (_, address) in self.moved.items()
            if address != elf.sections[index].address
        }
        return Layout(
            tuple(segments),
            tuple(sections),
            copies,
            tuple(blanks),
            *code_place,
            moved,
            end - distance,
        )

    def _stale_tables(self, gap_end: int, distance: int) -> Iterator[tuple[int, int]]:
        """Headers and names of the old file that are copied with what lies around them."""
        elf = self.elf
        names = elf.sections[elf.names_index]
        tables = [(names.offset, names.size), (elf.sections_offset, len(elf.sections) * SECTION.size)]
        if elf.segments_offset != HEADERS_AT:
            tables.append((elf.segments_offset, len(elf.segments) * SEGMENT.size))
        for start, size in tables:
            if start + size <= self._end_of_content():
                moved = start - (distance if start >= gap_end else 0)
                yield moved, moved + size

    def _end_of_content(self) -> int:
        """Behind which the old file has nothing but the names and headers of its sections."""
        elf = self.elf
        names = elf.sections[elf.names_index]
        ends = [
            section.offset + section.file_size for section in elf.sections if section is not names and section.file_size
        ]
        ends += [segment.offset + segment.file_size for segment in elf.segments]
        end = max(ends)
        table_end = elf.sections_offset + len(elf.sections) * SECTION.size
        if elf.size > align_up(max(end, names.offset + names.size, table_end), 8):
            raise refusal(elf.path, "data follows its last section, which the rewritten file would not have")
        return end

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
                continue  # is made anew, for the table's new length
            segments.append(self._moved_segment(segment, gap_end, distance))
        if extra is not None:
            last = max(i for i, segment in enumerate(segments) if segment.type == PT_LOAD)
            segments.insert(last + 1, extra)
        offset, address = self.note_place
        if self.note is None:
            segments.append(
                Segment(PT_NOTE, PF_R, offset, address, address, self.note_size, self.note_size, _NOTE_ALIGN)
            )
        if any(segment.type == PT_PHDR for segment in self.elf.segments):
            size = (len(segments) + 1) * SEGMENT.size
            address = first.address + HEADERS_AT
            segments.insert(0, Segment(PT_PHDR, PF_R, HEADERS_AT, address, address, size, size, 8))
        return segments

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
        far = segment.offset >= gap_end and distance and segment.file_size
        return replace(segment, offset=segment.offset - distance) if far else segment


def _overlap(start: int, size: int, other_start: int, other_size: int) -> bool:
    return size > 0 and other_size > 0 and start < other_start + other_size and other_start < start + size


def _place_near(elf: Elf, near: Sequence[int], address: int) -> tuple[dict[int, int], int]:
    """New addresses of sections that stay in the first page, and the address behind them.

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
    """Sections, by address, grouped where program headers cover several."""
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
    """Entries of the dynamic section whose value is the address of a table: (section, offset of the value, value)."""
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
    """New values of the tags whose tables move."""
    distances = {elf.sections[index].address: distance for index, distance in moved.items()}
    for section, offset, value in address_tags(elf):
        if value in distances:
            yield Edit(section, offset, (value + distances[value]).to_bytes(8, "little"))
