"""The check that a rewritten file is correct.

Nothing here knows how the file was made: both files are read anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.errors import RewriteError, RocmSdkError
from rocm_sdk.fit.code.note import NOTE_SECTION, History, parse_history
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.installed.readers import inspect_library

from .bundles import Change
from .elf64 import (
    ADDRESS_TAGS,
    DYNAMIC,
    PT_LOAD,
    RELOCATION,
    SHT_DYNAMIC,
    SHT_DYNSYM,
    SHT_NOBITS,
    SHT_RELA,
    SHT_SYMTAB,
    SYMBOL,
    Elf,
    Section,
    read_elf,
)
from .file_pieces import have_same_bytes
from .host_file import HostFile, read_host_file
from .load_trial import load
from .wrappers import FAT, SPLIT
from .wrappers import SECTION_NAME as WRAPPERS

if TYPE_CHECKING:
    from rocm_sdk import DeviceCode
    from rocm_sdk.installed.readers import LibraryFacts

_NOTE_SECTION = NOTE_SECTION.encode()
_MARKER_START = 8  # bytes that are compared in the loaded library
_BUNDLE_STARTS = (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x7fELF")


class Verified(NamedTuple):
    """The result of a new file's check."""

    loaded: bool
    remark: str | None  # reason why the file was not loaded


def verify_host_file(
    old: HostFile, output: int, code: DeviceCode, history: History, check_loading: bool, *, marker: bytes | None = None
) -> Verified:
    """Compare the file that is open as `output` with the old one, and load the new file.

    `code` is the code that was found in the new file; `verify_images` compares the images. `marker` names the archives
    of a file that was split from its code. Raise RewriteError (E-CODE-013) if the files differ where they must not.
    """
    shown = old.elf.path
    new = read_host_file(read_elf(output, shown), FAT if marker is None else SPLIT)
    if new.elf.is_library:
        facts, before = (_inspected(elf) for elf in (new.elf, old.elf))
        if facts.damages:
            raise _mismatch(shown, f"its layout is damaged: {_damages(facts)}")
        if _what_linkers_read(facts) != _what_linkers_read(before):
            raise _mismatch(shown, "the linker would read other facts about it")
    _compare_segments(old.elf, new.elf)
    _compare_sections(old, new)
    if code.history is None or parse_history(code.history, shown) != history:
        raise _mismatch(shown, "its note is not the one that was written")
    if [wrapper.place for wrapper in new.wrappers] != [wrapper.place for wrapper in old.wrappers]:
        raise _mismatch(shown, "its wrappers are not where they were")
    if marker is not None:
        _check_marker(old, new, marker)
    starts = _BUNDLE_STARTS if marker is None else (marker[:_MARKER_START],)
    return _check_loading(old, new, output, starts) if check_loading else Verified(False, "loading was not asked for")


def _check_marker(old: HostFile, new: HostFile, marker: bytes) -> None:
    """Raise RewriteError unless all wrappers lead to the marker, each with the number of its bundle."""
    section = new.elf.sections[new.code]
    bundles = sorted({wrapper.bundle for wrapper in old.wrappers})
    expected = [(section.address, bundles.index(wrapper.bundle)) for wrapper in old.wrappers]
    if new.elf.read(section) != marker or [(each.bundle, each.number) for each in new.wrappers] != expected:
        raise _mismatch(new.elf.path, "its wrappers do not lead to the names of its archives")


def refuse_damaged(elf: Elf) -> None:
    """Raise RewriteError for a file that is damaged already: no check could tell whether the new file is right."""
    if elf.is_library:
        facts = _inspected(elf)
        if facts.damages:
            raise refusal(elf.path, f"it is damaged: {_damages(facts)}")
    misplaced = elf.misplaced()
    if misplaced is not None:
        raise refusal(elf.path, f"its section {misplaced.shown} is somewhere else in the file than in memory")


def _inspected(elf: Elf) -> LibraryFacts:
    """Return the facts that the linker reads of an open file.

    Raise RewriteError, with the file's own name, for a damaged file.
    """
    place = _path_of(elf.descriptor)
    try:
        return inspect_library(place)
    except RocmSdkError as error:
        raise refusal(elf.path, f"it is damaged: {error.detail.removeprefix(f'{place}: ')}") from error


def _damages(facts: LibraryFacts) -> str:
    return "; ".join(damage.detail for damage in facts.damages)


def _mismatch(path: str, detail: str) -> RewriteError:
    return refusal(path, detail, "E-CODE-013")


_DESCRIPTORS = "/proc/self/fd"


def refuse_without_proc(output: str | None) -> None:
    """Raise RewriteError (E-CODE-017) if /proc is not mounted: a file without a name is checked through it."""
    if not os.path.isdir(_DESCRIPTORS):
        raise refusal(output or "a new file", code="E-CODE-017")


def _path_of(descriptor: int) -> str:
    return f"{_DESCRIPTORS}/{descriptor}"


def _what_linkers_read(facts: LibraryFacts) -> object:
    return {name: getattr(facts, name) for name in facts.__match_args__ if name not in ("sections", "damages")}


# ---- segments and sections ----


def _compare_segments(old: Elf, new: Elf) -> None:
    """Raise RewriteError unless each address that the old file loads has the same rights in the new file.

    Other program headers must stay.
    """
    for segment in old.loads():
        end = segment.address + segment.memory_size
        parts = [each for each in new.loads() if segment.address <= each.address < end]
        rights = {each.flags for each in parts}
        if not parts or parts[0].address != segment.address or rights != {segment.flags}:
            raise _mismatch(new.path, f"its segment at {segment.address:#x} is not what it was")
        if max(each.address + each.memory_size for each in parts) > end:
            raise _mismatch(new.path, f"its segment at {segment.address:#x} ends somewhere else")
    kept = [segment.type for segment in new.segments if segment.type != PT_LOAD]
    for segment in old.segments:
        if segment.type in kept:
            kept.remove(segment.type)
        elif segment.type != PT_LOAD:
            raise _mismatch(new.path, f"it lacks a program header of type {segment.type:#x}")
    misplaced = new.misplaced()
    if misplaced is not None:
        raise _mismatch(new.path, f"its section {misplaced.shown} is somewhere else in the file than in memory")


def _compare_sections(old: HostFile, new: HostFile) -> None:
    wrapped = {wrapper.place for wrapper in old.wrappers}
    before, after = _by_name(old), _by_name(new)
    if before.keys() | {(_NOTE_SECTION, 0)} != after.keys():
        raise _mismatch(new.elf.path, "it has other sections")
    for key, one in before.items():
        other = after[key]
        links = (_name_of(old.elf, one.link), _name_of(new.elf, other.link))
        if (one.type, one.flags, links[0]) != (other.type, other.flags, links[1]):
            raise _mismatch(new.elf.path, f"its section {one.shown} is not what it was")
        is_ours = one is old.elf.sections[old.code] or one is old.elf.sections[old.elf.names_index]
        if is_ours or key[0] == _NOTE_SECTION or one.type == SHT_NOBITS:
            continue
        if one.size != other.size or not _same_content(old, one, new, other, wrapped):
            raise _mismatch(new.elf.path, f"its section {one.shown} has other content")


def _by_name(host: HostFile) -> dict[tuple[bytes, int], Section]:
    """Return the sections by their names and occurrence numbers.

    The section of the code has the name that fat files give it.
    """
    seen: dict[bytes, int] = {}
    found = {}
    for index, section in enumerate(host.elf.sections[1:], 1):
        name = FAT.section if index == host.code else section.name
        number = seen.get(name, 0)
        seen[name] = number + 1
        found[name, number] = section
    return found


def _name_of(elf: Elf, index: int) -> bytes | None:
    return elf.sections[index].name if 0 < index < len(elf.sections) else None


def _same_content(old: HostFile, before: Section, new: HostFile, after: Section, wrapped: set[int]) -> bool:
    comparable = _COMPARABLE.get(WRAPPERS if before.name == WRAPPERS else before.type)
    if comparable is None:
        places = (old.elf.descriptor, before.offset), (new.elf.descriptor, after.offset)
        return have_same_bytes(*places, before.size)
    pairs = zip_longest(comparable(old, before, wrapped), comparable(new, after, wrapped))
    return all(one == other for one, other in pairs)


def _wrapper_words(host: HostFile, section: Section, wrapped: set[int]) -> Iterator[object]:
    """Yield the content without the fields that locate the code: magic number, address and number."""
    data = bytearray(host.elf.read(section))
    for place in wrapped:
        start = place - section.address
        data[start - 8 : start - 4] = bytes(4)
        data[start : start + 16] = bytes(16)
    yield data


def _tags(host: HostFile, section: Section, _: set[int]) -> Iterator[object]:
    """Yield dynamic tags; addresses of tables appear as the names of their sections."""
    names = {each.address: each.name for each in host.elf.sections if each.is_loaded and each.size}
    for tag, value in host.elf.rows(section, DYNAMIC):
        yield tag, names.get(value) if tag in ADDRESS_TAGS else value


def _relocations(host: HostFile, section: Section, wrapped: set[int]) -> Iterator[object]:
    for place, info, addend in host.elf.rows(section, RELOCATION):
        yield place, info, 0 if place in wrapped else addend


def _symbols(host: HostFile, section: Section, _: set[int]) -> Iterator[object]:
    """Yield symbols with values as distances from the start of their sections; symbols of bundles have no value."""
    for name, kind, visibility, owner, value, size in host.elf.rows(section, SYMBOL):
        if owner == host.code:
            yield name, kind, visibility, b"", 0, 0
        elif 0 < owner < len(host.elf.sections):
            holder = host.elf.sections[owner]
            yield name, kind, visibility, holder.name, value - holder.address, size
        else:
            yield name, kind, visibility, owner, value, size


_COMPARABLE = {
    WRAPPERS: _wrapper_words,
    SHT_DYNAMIC: _tags,
    SHT_RELA: _relocations,
    SHT_SYMTAB: _symbols,
    SHT_DYNSYM: _symbols,
}


# ---- images ----


class WantedImage(NamedTuple):
    """An image that the new file must have, and the place of its bytes in plain form."""

    id: str
    descriptor: int
    offset: int
    size: int
    changes: tuple[Change, ...] = ()  # changes of a code object that was retargeted


def verify_images(wanted: Sequence[Sequence[WantedImage]], found: Sequence[Sequence[WantedImage]], shown: str) -> None:
    """Compare the images of each bundle, read back from the new file, with the images that it should have.

    Raise RewriteError (E-CODE-013) if they differ.
    """
    if len(wanted) != len(found):
        raise _mismatch(shown, f"it has {len(found)} bundles, and should have {len(wanted)}")
    for number, (expected, actual) in enumerate(zip(wanted, found, strict=True)):
        if [(each.id, each.size) for each in expected] != [(each.id, each.size) for each in actual]:
            raise _mismatch(shown, f"its bundle {number} has other images")
        for one, other in zip(expected, actual, strict=True):
            if not _same_image(one, other):
                raise _mismatch(shown, f"the code {one.id} of its bundle {number} differs")


def _same_image(one: WantedImage, other: WantedImage) -> bool:
    if not one.changes:
        return have_same_bytes((one.descriptor, one.offset), (other.descriptor, other.offset), one.size)
    data = bytearray(os.pread(one.descriptor, one.size, one.offset))
    for offset, new in one.changes:
        data[offset : offset + len(new)] = new
    return data == os.pread(other.descriptor, other.size, other.offset)


# ---- loading ----


def _check_loading(old: HostFile, new: HostFile, output: int, kinds: tuple[bytes, ...]) -> Verified:
    """Load the new library, and compare the targets of its wrappers.

    `kinds` are the beginnings of the bytes to which a wrapper may lead. Raise RewriteError (E-CODE-013) if the library
    does not load, as the original does, or if a wrapper leads elsewhere.
    """
    if not new.elf.is_library:
        return Verified(False, "it is a program")
    places = [wrapper.place for wrapper in new.wrappers]
    original = os.path.abspath(old.elf.path)
    path = f"/proc/{os.getpid()}/fd/{output}"
    loaded = load(path, original, places)
    if loaded.refusal is not None:
        before = load(original, original, places)
        if before.refusal is None:
            raise _mismatch(new.elf.path, f"it does not load, as the original does: {loaded.refusal}")
        return Verified(False, f"the original does not load here: {before.refusal}")
    expected: Mapping[int, int] = {wrapper.place: wrapper.bundle for wrapper in new.wrappers}
    for place, word, start in zip(places, loaded.words, loaded.starts, strict=True):
        if word != expected[place] or not start.startswith(kinds):
            raise _mismatch(new.elf.path, f"where it is loaded, the wrapper at {place - 8:#x} leads to no code")
    return Verified(True, None)
