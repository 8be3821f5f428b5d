"""The search path of a library or program, which this module writes.

The dynamic linker looks in DT_RPATH before LD_LIBRARY_PATH, and in DT_RUNPATH after it.

The text goes to the end of the string table, which moves into a segment of its own at the end of the file. Nothing else
of the file changes its address, except tables that stand where the new program header goes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk_build.base.pieces import write_all

from .elf64 import DYNAMIC, PF_R, PT_LOAD, PT_PHDR, SHT_DYNAMIC, Elf, Section, Segment, align_up, read_elf
from .header_room import Place, Room, edit_tags, insert_load, make_room, place_tail, with_own_header
from .layout import Layout, end_of_content, largest_align, stale_tables
from .tables import section_order, write_tables
from .wrappers import Edit, edit_symbols

_NULL, _STRTAB, _STRSZ, _RPATH, _RUNPATH = 0, 5, 10, 15, 29


def set_rpath(path: str, entries: list[str], *, is_runpath: bool = False) -> bool:
    """Set DT_RPATH of a file to these entries, and remove its DT_RUNPATH; return False if nothing has to change.

    With `is_runpath` set DT_RUNPATH and remove DT_RPATH. The file is changed in place: it must be the caller's own
    copy.

    Raise RewriteError (E-CODE-010) if the form of the file does not allow the change; then the file is unchanged. After
    RewriteError (E-CODE-013: the result is wrong) or OSError the file must be thrown away.
    """
    text = ":".join(entries).encode()
    if b"\0" in text or not text:
        raise refusal(path, "a search path is a text with at least one entry")
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        elf = read_elf(descriptor, path)
        table, tags = _dynamic(elf)
        wanted = {_RUNPATH if is_runpath else _RPATH: text}
        if _texts(elf, table, tags) == wanted:
            return False
        _write(elf, table, tags, wanted)
        _verify(read_elf(descriptor, path), elf, wanted)
    finally:
        os.close(descriptor)
    return True


def _dynamic(elf: Elf) -> tuple[int, list[tuple[int, int]]]:
    """Return the index of the dynamic section, and its entries up to the end of the section."""
    index = next((i for i, section in enumerate(elf.sections) if section.type == SHT_DYNAMIC), None)
    if index is None:
        raise refusal(elf.path, "it has no dynamic section: it is a static program or no program")
    data = elf.read(elf.sections[index])
    return index, list(DYNAMIC.iter_unpack(data[: len(data) // DYNAMIC.size * DYNAMIC.size]))


def _strings(elf: Elf, table: int) -> tuple[int, Section]:
    """Return the index and the header of the dynamic section's string table."""
    index = elf.sections[table].link
    if not 0 < index < len(elf.sections):
        raise refusal(elf.path, "its dynamic section has no string table")
    return index, elf.sections[index]


def _texts(elf: Elf, table: int, tags: list[tuple[int, int]]) -> dict[int, bytes]:
    """Return DT_RPATH and DT_RUNPATH as they are."""
    strings = elf.read(_strings(elf, table)[1])
    found = {}
    for tag, value in tags[: _length(tags)]:
        if tag in (_RPATH, _RUNPATH):
            found[tag] = strings[value:].partition(b"\0")[0]
    return found


def _length(tags: list[tuple[int, int]]) -> int:
    return next((i for i, (tag, _) in enumerate(tags) if tag == _NULL), len(tags))


def _write(elf: Elf, table: int, tags: list[tuple[int, int]], wanted: dict[int, bytes]) -> None:
    ((path_tag, text),) = wanted.items()
    index, strings = _strings(elf, table)
    used = [(tag, value) for tag, value in tags[: _length(tags)] if tag not in (_RPATH, _RUNPATH)]
    if len(used) + 2 > len(tags):
        raise refusal(elf.path, "its dynamic section has no entry to spare")
    if (_STRTAB, strings.address) not in used:
        raise refusal(elf.path, "its dynamic section and its section headers name two string tables")
    content = elf.read(strings) + text + b"\0"
    room = make_room(elf, 1)
    tail = tuple(each for each in room.tail if each != index)
    page = largest_align(elf)
    start = align_up(max(each.address + each.memory_size for each in elf.loads()), page)
    offset = align_up(end_of_content(elf), page)
    places, end = place_tail(elf, tail, start + len(content), offset - start)
    places |= room.places
    sections = [
        replace(each, offset=places[i].offset, address=places[i].address) if i in places else each
        for i, each in enumerate(elf.sections)
    ]
    sections[index] = replace(strings, offset=offset, address=start, size=len(content))
    moved = {i: place.address - elf.sections[i].address for i, place in places.items()}
    extra = Segment(PT_LOAD, PF_R, offset, start, start, end - start, end - start, page)
    blanks = (room.cleared, *stale_tables(elf), (strings.offset, strings.offset + strings.size))
    layout = Layout(
        tuple(_segments(elf, room, places, extra)), tuple(sections), (), blanks, 0, 0, moved, offset + end - start
    )
    order = section_order(elf, layout)
    new = [*used, (path_tag, strings.size), *[(_NULL, 0)] * (len(tags) - len(used) - 1)]
    changed = {_STRTAB: start, _STRSZ: len(content)}
    data = b"".join(DYNAMIC.pack(tag, changed.get(tag, value)) for tag, value in new)
    shifts = {**moved, index: start - strings.address}
    edits = [Edit(table, 0, data), *_edit_other_tags(elf, moved, new), *edit_symbols(elf, -1, {}, shifts, order)]
    write_tables(elf, layout, order, edits, elf.descriptor)
    write_all(elf.descriptor, content, offset)


def _edit_other_tags(elf: Elf, moved: dict[int, int], new: list[tuple[int, int]]) -> Iterator[Edit]:
    """Yield the addresses of the other tables that move, at the places that their tags have now."""
    positions = {tag: number * DYNAMIC.size + 8 for number, (tag, _) in enumerate(new)}
    before = {value: tag for tag, value in new}
    for edit in edit_tags(elf, moved):
        old = int.from_bytes(elf.read(elf.sections[edit.section])[edit.offset : edit.offset + 8], "little")
        yield Edit(edit.section, positions[before[old]], edit.data)


def _segments(elf: Elf, room: Room, places: dict[int, Place], extra: Segment) -> list[Segment]:
    segments = []
    for segment in elf.segments:
        moved = next(
            (places[i] for i, each in enumerate(elf.sections) if i in places and each.offset == segment.offset), None
        )
        if segment.type == PT_PHDR:
            continue  # made anew, for the table's new length
        segments.append(segment.moved(*moved) if moved and segment.type != PT_LOAD and segment.file_size else segment)
    insert_load(segments, extra)
    return with_own_header(elf, segments, room.first)


def _verify(new: Elf, old: Elf, wanted: dict[int, bytes]) -> None:
    """Read the file back, and check that only the search path differs for the linker.

    Raise RewriteError (E-CODE-013) if anything else differs.
    """
    table, tags = _dynamic(new)
    if _texts(new, table, tags) != wanted:
        raise refusal(new.path, "its search path is not the one that was written", "E-CODE-013")
    misplaced = new.misplaced()
    if misplaced is not None:
        raise refusal(new.path, f"its section {misplaced.shown} is somewhere else than in memory", "E-CODE-013")
    if old.is_library:
        damages = inspect_library(new.path).damages
        if damages:
            raise refusal(new.path, "; ".join(damage.message for damage in damages), "E-CODE-013")
