"""The wrappers by which HIP finds its bundles, and everything else in a library that names an address of bundles.

Source: amd-llvm's HIP offloading: `.hipFatBinSegment` is an array of 24-byte wrappers (magic, version, address, index).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rocm_sdk.errors import RewriteError
from rocm_sdk.fit.code.refusal import refusal

from .elf64 import (
    RELATIVE,
    RELOCATION,
    SHT_DYNSYM,
    SHT_RELA,
    SHT_RELR,
    SHT_SYMTAB,
    SYMBOL,
    Elf,
    Section,
    Segment,
    read_exactly,
)

SECTION_NAME = b".hipFatBinSegment"
_WRAPPER = struct.Struct("<IIQQ")
_ADDRESS_AT = 8
_MAPPED = 63  # words of a map in a RELR table
# docs/limits.md has these limits and their reasons.
_ADDEND_LIMIT = 16  # relocations of one wrapper
_RELR_LIMIT = 1 << 20  # bytes
_MAGIC, _WORD = struct.Struct("<I"), struct.Struct("<Q")


class Form(NamedTuple):
    """The place of a library's code."""

    magic: int  # magic number of its wrappers
    section: bytes  # section to which the wrappers lead


FAT = Form(0x48495046, b".hip_fatbin")  # HIPF: the code is in the library
SPLIT = Form(0x4B504948, b".rocm_kpack_ref")  # HIPK: the code is in kpack archives, which the section names


class Edit(NamedTuple):
    """Bytes that a section gets, at an offset within it."""

    section: int
    offset: int
    data: bytes


class Wrapper(NamedTuple):
    """A wrapper of a bundle."""

    place: int  # address of the word that holds the bundle's address
    bundle: int  # address of the bundle, or of the marker that names archives
    number: int  # number of a bundle whose code is in archives; else not used
    word: int  # value of the file at `place`
    relocations: tuple[tuple[int, int], ...]  # (section, offset in it) of the addends that the linker puts there


def read_wrappers(elf: Elf, code: Section, magic: int) -> tuple[Wrapper, ...]:
    """Return the wrappers, which have this magic number and lead into the section `code`.

    Raise RewriteError for a file with a wrapper that leads elsewhere, and for a file in which anything else points into
    the code.
    """
    index = elf.find(SECTION_NAME)
    if index is None or not elf.sections[index].is_loaded:
        raise refusal(elf.path, "it has no wrappers (.hipFatBinSegment), by which HIP would find its code")
    section = elf.sections[index]
    data = elf.read(section)
    if len(data) % _WRAPPER.size or not data:
        raise refusal(elf.path, "its wrappers have a size that they cannot have")
    addends = _addends_into(elf, code, range(section.address, section.address + len(data), _WRAPPER.size))
    wrappers = []
    for position in range(0, len(data), _WRAPPER.size):
        found_magic, version, word, number = _WRAPPER.unpack_from(data, position)
        place = section.address + position + _ADDRESS_AT
        if found_magic != magic or version != 1:
            raise refusal(
                elf.path, "a wrapper is none of a bundle: its code is in kpack archives, or none that HIP knows"
            )
        found = addends.pop(place, [])
        bundle = found[-1][2] if found else word
        if not code.address <= bundle < code.address + code.size:
            raise refusal(elf.path, f"the wrapper at {place - _ADDRESS_AT:#x} leads to no bundle in {code.shown}")
        wrappers.append(Wrapper(place, bundle, number, word, tuple((where, offset) for where, offset, _ in found)))
    _refuse_packed_pointers(elf, code, {wrapper.place for wrapper in wrappers})
    return tuple(wrappers)


def _addends_into(elf: Elf, code: Section, wrappers: range) -> dict[int, list[tuple[int, int, int]]]:
    """Return the relocations that make a word point into the code.

    The result maps a place to (section, offset of the addend in it, addend). `wrappers` has the addresses of the
    wrappers. Raise RewriteError for a file in which another word points into the code.
    """
    relative = RELATIVE.get(elf.machine)
    if relative is None:
        raise refusal(elf.path, f"it is for a machine (e_machine {elf.machine}) whose relocations are not known")
    found: dict[int, list[tuple[int, int, int]]] = {}
    end = code.address + code.size
    for index, section in enumerate(elf.sections):
        if section.type != SHT_RELA or not section.is_loaded:
            continue
        for number, (place, info, addend) in enumerate(elf.rows(section, RELOCATION)):
            if code.address <= addend < end and info & 0xFFFFFFFF == relative:
                if place - _ADDRESS_AT not in wrappers:
                    raise _foreign_pointer(elf, place)
                known = found.setdefault(place, [])
                known.append((index, number * RELOCATION.size + 16, addend))
                if len(known) > _ADDEND_LIMIT:
                    raise refusal(elf.path, f"the wrapper at {place - _ADDRESS_AT:#x} is relocated too often")
    return found


def _foreign_pointer(elf: Elf, place: int) -> RewriteError:
    return refusal(elf.path, f"the word at {place:#x}, which is not a wrapper, points into its code")


def _refuse_packed_pointers(elf: Elf, code: Section, known: set[int]) -> None:
    """Raise RewriteError if a RELR table relocates another word that points into the code.

    The addend of such a relocation is the word itself.
    """
    end = code.address + code.size
    for section in elf.sections:
        if section.type != SHT_RELR or not section.is_loaded:
            continue
        if section.size > _RELR_LIMIT:
            raise refusal(elf.path, f"its section {section.shown} has {section.size} bytes, more than any such")
        loads = elf.loads()
        for base, bits in _packed_places(elf.rows(section, _WORD)):
            for place, value in _words_of(elf, loads, base, bits):
                if code.address <= value < end and place not in known:
                    raise _foreign_pointer(elf, place)


def _packed_places(words: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the places that a RELR table names: an address, and a map of the words from there on.

    An even word is an address, an odd one a map of the 63 words behind the last.
    """
    base = 0
    for (word,) in words:
        if not word & 1:
            yield word, 1
            base = word + 8
        else:
            yield base, word >> 1
            base += _MAPPED * 8


def _words_of(elf: Elf, loads: Iterable[Segment], base: int, bits: int) -> Iterator[tuple[int, int]]:
    """Yield the words of a map, which may lie in several segments: address and content."""
    for load in loads:
        first = max(0, -(-(load.address - base) // 8))
        last = min(bits.bit_length(), (load.end - base) // 8)
        if first >= last:
            continue
        start = load.offset + base + first * 8 - load.address
        data = read_exactly(elf.descriptor, start, (last - first) * 8, elf.path)
        for number, (value,) in enumerate(_WORD.iter_unpack(data), first):
            if bits >> number & 1:
                yield base + number * 8, value


def edit_wrappers(elf: Elf, wrappers: tuple[Wrapper, ...], places: Mapping[int, int]) -> Iterator[Edit]:
    """Yield the edits that make each wrapper lead to the new place of its bundle.

    `places` maps old addresses to new ones.
    """
    index = elf.find(SECTION_NAME)
    assert index is not None
    start = elf.sections[index].address
    for wrapper in wrappers:
        data = _WORD.pack(places[wrapper.bundle])
        if wrapper.word or not wrapper.relocations:
            yield Edit(index, wrapper.place - start, data)
        for section, offset in wrapper.relocations:
            yield Edit(section, offset, data)


def edit_magic(elf: Elf, wrappers: tuple[Wrapper, ...]) -> Iterator[Edit]:
    """Yield the edits that make each wrapper refer to code in archives, with the number of its bundle in the file."""
    index = elf.find(SECTION_NAME)
    assert index is not None
    start = elf.sections[index].address + _ADDRESS_AT
    numbers = {bundle: number for number, bundle in enumerate(sorted({wrapper.bundle for wrapper in wrappers}))}
    for wrapper in wrappers:
        yield Edit(index, wrapper.place - start, _MAGIC.pack(SPLIT.magic))
        yield Edit(index, wrapper.place - start + 16, _WORD.pack(numbers[wrapper.bundle]))


def edit_symbols(
    elf: Elf, code: int, places: Mapping[int, tuple[int, int]], moved: Mapping[int, int], order: Mapping[int, int]
) -> Iterator[Edit]:
    """Yield the edits of the symbol tables: new values of the symbols of bundles and of sections that move.

    `code` is the index of the section of code. `places` maps the old address of a bundle to its new address and size,
    `moved` the index of a section to the distance that its address moves, and `order` the index of a section to its new
    index.
    """
    for index, section in enumerate(elf.sections):
        if section.type not in (SHT_SYMTAB, SHT_DYNSYM):
            continue
        for start, before in elf.chunks(section, SYMBOL):
            data = bytearray(before)
            for number, symbol in enumerate(SYMBOL.iter_unpack(before)):
                name, kind, visibility, owner, value, size = symbol
                if not 0 < owner < len(elf.sections):
                    continue
                address, new_size = places.get(value, (value, size)) if owner == code else (value, size)
                place = (order[owner], address + moved.get(owner, 0), new_size if size else 0)
                if place != (owner, value, size):
                    SYMBOL.pack_into(data, number * SYMBOL.size, name, kind, visibility, *place)
            if data != before:
                yield Edit(index, start, bytes(data))
