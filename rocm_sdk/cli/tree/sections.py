"""The purposes of the parts of a library, by its section headers, which tell linkers and debuggers what lies where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocm_sdk._native import section_extents
from rocm_sdk.errors import BadLibraryError

SYMBOLS, RELOCATIONS, CODE, DATA, CONSTANTS, REST = "symbols", "relocations", "code", "data", "constants", "rest"

_NO_BITS = 8
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_MOST = 200  # sections that are looked at; libraries have forty
_TYPES = {
    **dict.fromkeys((3, 5, 11, 0x6FFFFFF6, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF), SYMBOLS),
    **dict.fromkeys((4, 9, 19), RELOCATIONS),
}


def bytes_by_kind(path: str, parts: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Return kind -> bytes of it in these parts of a file, each a start and a size; the largest first.

    Raise OSError.
    """
    sections = [*_sections(path)]
    found: dict[str, int] = {}
    for start, size in parts:
        rest = size
        for kind, offset, length in sections:
            common = min(start + size, offset + length) - max(start, offset)
            if common > 0:
                found[kind] = found.get(kind, 0) + common
                rest -= common
        if rest > 0:
            found[REST] = found.get(REST, 0) + rest
    return dict(sorted(found.items(), key=lambda row: -row[1]))


def _sections(path: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, offset and size of each section that is loaded.

    A file that is no ELF file, or has no sound headers, has none.
    """
    try:
        headers = section_extents(path)
    except BadLibraryError:
        return
    for type_, flags, start, length in headers[:_MOST]:
        if flags & _ALLOC and type_ != _NO_BITS:
            yield _kind(type_, flags), start, length


def _kind(type_: int, flags: int) -> str:
    if type_ in _TYPES:
        return _TYPES[type_]
    return CODE if flags & _EXECUTE else DATA if flags & _WRITE else CONSTANTS
