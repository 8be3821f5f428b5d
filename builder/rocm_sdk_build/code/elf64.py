"""The tables of a 64-bit, little-endian ELF file: its header, program headers and section headers.

Source: gABI, chapters 4 and 5. The rest of the package reads files through the extension; this module has the parts
that a writer needs.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rocm_sdk.fit.code.refusal import refusal

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
DYNAMIC = struct.Struct("<QQ")

ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_PHDR = 1, 2, 3, 4, 6
PF_R = 4
SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_HASH, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 2, 3, 4, 5, 7, 8, 11
SHT_DYNAMIC, SHT_REL, SHT_GROUP, SHT_SYMTAB_SHNDX, SHT_RELR = 6, 9, 17, 18, 19
SHT_GNU_HASH, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM = 0x6FFFFFF6, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
SHF_ALLOC, SHF_INFO_LINK = 0x2, 0x40
EM_X86_64, EM_AARCH64 = 62, 183
RELATIVE = {EM_X86_64: 8, EM_AARCH64: 1027}  # R_X86_64_RELATIVE, R_AARCH64_RELATIVE

# Dynamic tags whose value is the address of a section.
ADDRESS_TAGS = {
    4: "DT_HASH",
    5: "DT_STRTAB",
    6: "DT_SYMTAB",
    7: "DT_RELA",
    23: "DT_JMPREL",
    36: "DT_RELR",
    0x6FFFFEF5: "DT_GNU_HASH",
    0x6FFFFFF0: "DT_VERSYM",
    0x6FFFFFFC: "DT_VERDEF",
    0x6FFFFFFE: "DT_VERNEED",
}

# docs/limits.md has these limits and their reasons.
_SEGMENT_LIMIT = 256
_SECTION_LIMIT = 1 << 14
_WHOLE_LIMIT = 1 << 26  # bytes of a section that is read at once
_CHUNK = 1 << 20
_WRONG_SIZE = "its headers are not of the size that they must have"
_WRONG_COUNT = "it has more headers than a library does, or no names of sections"


@dataclass(frozen=True, slots=True)
class Segment:
    """A program header; offsets and sizes are in bytes."""

    type: int
    flags: int
    offset: int
    address: int
    physical_address: int
    file_size: int
    memory_size: int
    align: int

    @property
    def end(self) -> int:
        """The address behind the bytes of the segment in the file."""
        return self.address + self.file_size

    def holds(self, address: int, size: int) -> bool:
        """Return whether the segment has the bytes of these addresses in the file."""
        return self.address <= address and address + size <= self.end

    def moved(self, offset: int, address: int) -> Segment:
        """Return the segment at another offset and address."""
        physical = address if self.physical_address == self.address else self.physical_address
        return replace(self, offset=offset, address=address, physical_address=physical)


@dataclass(frozen=True, slots=True)
class Section:
    """A section header, and the name of the section."""

    name: bytes
    name_offset: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int

    @property
    def shown(self) -> str:
        """The name, for people."""
        return self.name.decode(errors="replace")

    @property
    def file_size(self) -> int:
        """The number of bytes in the file."""
        return 0 if self.type == SHT_NOBITS else self.size

    @property
    def is_loaded(self) -> bool:
        """True if the section has an address."""
        return bool(self.flags & SHF_ALLOC)


@dataclass(frozen=True, slots=True)
class Elf:
    """The tables of a file that is open as `descriptor`."""

    path: str
    descriptor: int
    size: int
    header: tuple[int, ...]  # fields of HEADER without e_ident
    ident: bytes
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]

    @property
    def type(self) -> int:
        """The field e_type."""
        return self.header[0]

    @property
    def machine(self) -> int:
        """The field e_machine."""
        return self.header[1]

    @property
    def segments_offset(self) -> int:
        """The field e_phoff."""
        return self.header[4]

    @property
    def sections_offset(self) -> int:
        """The field e_shoff."""
        return self.header[5]

    @property
    def names_index(self) -> int:
        """The field e_shstrndx."""
        return self.header[12]

    @property
    def is_library(self) -> bool:
        """True if the file is a library; a program has an interpreter."""
        kinds = {segment.type for segment in self.segments}
        return self.type == ET_DYN and PT_DYNAMIC in kinds and PT_INTERP not in kinds

    def find(self, name: bytes) -> int | None:
        """Return the index of the first section of that name, or None."""
        return next((i for i, section in enumerate(self.sections) if section.name == name), None)

    def read(self, section: Section) -> bytes:
        """Return the bytes of a section.

        Raise RewriteError for a section that is larger than any that has to be read at once.
        """
        if section.file_size > _WHOLE_LIMIT:
            raise refusal(self.path, f"its section {section.shown} has {section.file_size} bytes, more than any such")
        return read_exactly(self.descriptor, section.offset, section.file_size, self.path)

    def chunks(self, section: Section, row: struct.Struct) -> Iterator[tuple[int, bytes]]:
        """Yield the whole rows of a table, many at once: the offset in the section, and the bytes."""
        step = _CHUNK // row.size * row.size
        end = section.file_size // row.size * row.size
        for start in range(0, end, step):
            yield start, read_exactly(self.descriptor, section.offset + start, min(step, end - start), self.path)

    def rows(self, section: Section, row: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a table."""
        for _, data in self.chunks(section, row):
            yield from row.iter_unpack(data)

    def loads(self) -> list[Segment]:
        """Return the segments that are loaded."""
        return [segment for segment in self.segments if segment.type == PT_LOAD]

    def load_of(self, address: int, size: int) -> Segment | None:
        """Return the loaded segment that has the bytes of these addresses, or None."""
        return next((segment for segment in self.loads() if segment.holds(address, size)), None)

    def misplaced(self) -> Section | None:
        """Return a section whose place in the file and address do not fit its segment, or None."""
        for section in self.sections:
            if section.is_loaded and section.file_size:
                load = self.load_of(section.address, section.size)
                if load is None or section.offset - load.offset != section.address - load.address:
                    return section
        return None


def read_exactly(descriptor: int, offset: int, size: int, path: str) -> bytes:
    """Return bytes of a file.

    Raise RewriteError for a file that is too short.
    """
    parts = []
    if offset + size > os.fstat(descriptor).st_size:
        raise refusal(path, f"it ends before byte {offset + size}, where its tables say that it has more")
    while size > 0:
        part = os.pread(descriptor, min(size, 1 << 30), offset)  # a single read suffices for most
        if not part:
            raise refusal(path, f"it ends at byte {offset}, before its tables say")
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return b"".join(parts)


def read_header(descriptor: int, path: str) -> tuple[bytes, tuple[int, ...]]:
    """Return e_ident, and the other fields of the header.

    Raise RewriteError for a file that is not 64-bit, little-endian ELF.
    """
    start = os.pread(descriptor, HEADER.size, 0)
    if len(start) < HEADER.size or start[:6] != b"\x7fELF\x02\x01":
        raise refusal(path, "it is not a 64-bit, little-endian ELF file")
    ident, *header = HEADER.unpack(start)
    return ident, tuple(header)


def read_segments(descriptor: int, header: tuple[int, ...], path: str) -> tuple[Segment, ...]:
    """Return the program headers of a file with this header, in their order.

    Raise RewriteError if there are more than a library has, or if they lie outside the file.
    """
    offset, size, count = header[4], header[8], header[9]
    if count and size != SEGMENT.size:
        raise refusal(path, _WRONG_SIZE)
    if count > _SEGMENT_LIMIT:
        raise refusal(path, _WRONG_COUNT)
    return tuple(map(_segment, _table(descriptor, offset, count, SEGMENT, path)))


def read_elf(descriptor: int, path: str, *, is_whole: bool = True) -> Elf:
    """Return the tables of a file.

    With `is_whole` the segments must lie in the file; a file with debug information alone has segments of another file.
    Raise RewriteError for a file that is not 64-bit, little-endian ELF, or whose tables lie outside the file.
    """
    size = os.fstat(descriptor).st_size
    ident, header = read_header(descriptor, path)
    section_size, section_count, names_index = header[10:13]
    if section_count and section_size != SECTION.size:
        raise refusal(path, _WRONG_SIZE)
    if section_count >= _SECTION_LIMIT or not names_index < section_count:
        raise refusal(path, _WRONG_COUNT)
    segments = read_segments(descriptor, header, path)
    rows = _table(descriptor, header[5], section_count, SECTION, path)
    names_at, names_size = rows[names_index][4], rows[names_index][5]
    if rows[names_index][1] != SHT_STRTAB or names_at + names_size > size:
        raise refusal(path, "the names of its sections lie outside it")
    names = read_exactly(descriptor, names_at, names_size, path)
    sections = tuple(_section(_name(names, row[0], path), row) for row in rows)
    if any(section.offset + section.file_size > size for section in sections):
        raise refusal(path, "a section lies outside it")
    if sum(section.file_size for section in sections) > size:  # each is read: overlapping sections take any time
        raise refusal(path, "its sections overlap")
    found = Elf(path, descriptor, size, header, ident, segments, sections)
    if is_whole and any(segment.offset + segment.file_size > size for segment in found.segments):
        raise refusal(path, "a segment lies outside it")
    return found


def _table(descriptor: int, offset: int, count: int, row: struct.Struct, path: str) -> list[tuple[int, ...]]:
    return list(row.iter_unpack(read_exactly(descriptor, offset, count * row.size, path)))


def _segment(row: tuple[int, ...]) -> Segment:
    kind, flags, offset, address, physical, file_size, memory_size, align = row
    return Segment(
        type=kind,
        flags=flags,
        offset=offset,
        address=address,
        physical_address=physical,
        file_size=file_size,
        memory_size=memory_size,
        align=align,
    )


def _section(name: bytes, row: tuple[int, ...]) -> Section:
    name_offset, kind, flags, address, offset, size, link, info, align, entry_size = row
    return Section(
        name=name,
        name_offset=name_offset,
        type=kind,
        flags=flags,
        address=address,
        offset=offset,
        size=size,
        link=link,
        info=info,
        align=align,
        entry_size=entry_size,
    )


def _name(names: bytes, offset: int, path: str) -> bytes:
    end = names.find(b"\0", offset)
    if end < 0:
        raise refusal(path, "the name of a section lies outside the table of names")
    return names[offset:end]


def pack_segments(segments: list[Segment]) -> bytes:
    """Return the table of program headers."""
    return b"".join(
        SEGMENT.pack(s.type, s.flags, s.offset, s.address, s.physical_address, s.file_size, s.memory_size, s.align)
        for s in segments
    )


def pack_sections(sections: list[Section]) -> bytes:
    """Return the table of section headers."""
    return b"".join(
        SECTION.pack(
            *(s.name_offset, s.type, s.flags, s.address, s.offset, s.size, s.link, s.info, s.align, s.entry_size)
        )
        for s in sections
    )


def align_up(value: int, align: int) -> int:
    """Return `value`, or the next multiple of `align` above."""
    return -(-value // align) * align


def align_down(value: int, align: int) -> int:
    """Return `value`, or the next multiple of `align` below."""
    return value // align * align
