"""Shared libraries that are written byte by byte: what a linker reads of them, and no code. None is to be loaded.

A compiler takes fifty milliseconds for such a file, and a wheel has up to hundreds. Source: gABI chapters 4 and 5, the
LSB on symbol versions.
"""

import os
import struct
from collections.abc import Iterable, Mapping, Sequence

_MACHINE = {"x86_64": 62, "aarch64": 183}[os.uname().machine]
_NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ, _SYMENT, _SONAME, _RPATH, _RUNPATH = 1, 4, 5, 6, 10, 11, 14, 15, 29
_VERSYM, _VERDEF, _VERDEFNUM, _VERNEED, _VERNEEDNUM, _FLAGS_1 = (
    0x6FFFFFF0,
    0x6FFFFFFC,
    0x6FFFFFFD,
    0x6FFFFFFE,
    0x6FFFFFFF,
    0x6FFFFFFB,
)
_PIE = 0x08000000
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551


def _sysv_hash(name: str) -> int:
    value = 0
    for letter in name.encode():
        value = (value << 4) + letter
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


class _Strings:
    """A table of strings."""

    def __init__(self) -> None:
        self.data = b"\0"
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._places[text]


class _Layout:
    """The file, which is mapped as one segment: each address is a place in it."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)
        self.sections: list[tuple[str, int, int, int, int, int, int, int]] = []

    def add(
        self,
        name: str,
        kind: int,
        data: bytes,
        *,
        flags: int = 2,
        link: int = 0,
        info: int = 0,
        entry: int = 0,
        align: int = 8,
    ) -> int:
        self.data += bytes(-len(self.data) % align)
        place = len(self.data)
        self.data += data
        self.sections.append((name, kind, flags, place, len(data), link, info, entry))
        return place


def shared_library(
    *,
    soname: str | None = None,
    needed: Sequence[str] = (),
    rpath: str | None = None,
    runpath: str | None = None,
    wanted: Iterable[str] = (),
    defined: Iterable[str] = (),
    needed_versions: Mapping[str, Sequence[str]] | None = None,
    versions: Sequence[str] = (),
    texts: Iterable[str] = (),
    sections: Mapping[str, bytes] | None = None,
    is_program: bool = False,
) -> bytes:
    """Return a library with these entries, undefined and defined functions, versions, and texts among its constants."""
    strings, layout = _Strings(), _Layout(64 + 3 * 56)
    names = [*dict.fromkeys(wanted), *dict.fromkeys(defined)]
    undefined = set(wanted)
    symbols = bytes(24)
    for name in names:
        is_here = name not in undefined
        symbols += struct.pack("<IBBHQQ", strings.place(name), 0x12, 0, 1 if is_here else 0, 64 if is_here else 0, 0)
    numbers = struct.pack(f"<{len(names) + 1}H", 0, *(0 if name in undefined else 1 for name in names))
    index = 2
    definitions = b""
    for place, version in enumerate((soname or "", *versions)) if versions else ():
        head = struct.pack(
            "<HHHHIII",
            1,
            1 if place == 0 else 0,
            place + 1,
            1,
            _sysv_hash(version),
            20,
            28 if place < len(versions) else 0,
        )
        definitions += head + struct.pack("<II", strings.place(version), 0)
        index = place + 2
    needs = b""
    libraries = [(library, each) for library, each in (needed_versions or {}).items() if each]
    for at, (library, each) in enumerate(libraries):
        size = 16 + 16 * len(each)
        needs += struct.pack("<HHIII", 1, len(each), strings.place(library), 16, size if at + 1 < len(libraries) else 0)
        for place, version in enumerate(each):
            more = 16 if place + 1 < len(each) else 0
            needs += struct.pack("<IHHII", _sysv_hash(version), 0, index, strings.place(version), more)
            index += 1
    chains = struct.pack(
        f"<II{1 + len(names) + 1}I",
        1,
        len(names) + 1,
        1 if names else 0,
        0,
        *(place + 2 if place + 1 < len(names) else 0 for place in range(len(names))),
    )
    entries = [(_NEEDED, strings.place(name)) for name in needed]
    entries += [
        (tag, strings.place(text))
        for tag, text in ((_SONAME, soname), (_RPATH, rpath), (_RUNPATH, runpath))
        if text is not None
    ]
    at_strings = layout.add(".dynstr", 3, strings.data, align=1)
    entries += [(_STRTAB, at_strings), (_STRSZ, len(strings.data)), (_SYMENT, 24)]
    entries.append((_SYMTAB, layout.add(".dynsym", 11, symbols, link=1, info=1, entry=24)))
    entries.append((_HASH, layout.add(".hash", 5, chains, link=2, entry=4)))
    if definitions or needs:
        entries.append((_VERSYM, layout.add(".gnu.version", 0x6FFFFFFF, numbers, link=2, entry=2)))
    if definitions:
        entries += [
            (_VERDEF, layout.add(".gnu.version_d", 0x6FFFFFFD, definitions, link=1, info=len(versions) + 1)),
            (_VERDEFNUM, len(versions) + 1),
        ]
    if needs:
        entries += [
            (_VERNEED, layout.add(".gnu.version_r", 0x6FFFFFFE, needs, link=1, info=len(libraries))),
            (_VERNEEDNUM, len(libraries)),
        ]
    if is_program:
        entries.append((_FLAGS_1, _PIE))
    layout.add(".rodata", 1, b"\0" + b"".join(text.encode() + b"\0" for text in texts))
    for name, content in (sections or {}).items():
        layout.add(name, 1, content, align=4096)
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in (*entries, (0, 0)))
    at_dynamic = layout.add(".dynamic", 6, dynamic, flags=3, link=1, entry=16)
    return _finished(layout, at_dynamic, len(dynamic))


def _finished(layout: _Layout, at_dynamic: int, dynamic_size: int) -> bytes:
    """Return the file with its headers."""
    names = _Strings()
    headers = bytes(64)
    rows = [*layout.sections, (".shstrtab", 3, 0, len(layout.data), 0, 0, 0, 0)]
    places = [names.place(row[0]) for row in rows]
    layout.data += names.data
    for (name, kind, flags, place, size, link, info, entry), at in zip(rows, places, strict=True):
        length = len(names.data) if name == ".shstrtab" else size
        headers += struct.pack(
            "<IIQQQQIIQQ", at, kind, flags, place if flags else 0, place, length, link, info, 1, entry
        )
    layout.data += bytes(-len(layout.data) % 8)
    at_headers, size = len(layout.data), len(layout.data)
    layout.data += headers
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    layout.data[:64] = ident + struct.pack(
        "<HHIQQQIHHHHHH", 3, _MACHINE, 1, 64, 64, at_headers, 0, 64, 56, 3, 64, len(rows) + 1, len(rows)
    )
    segments = struct.pack("<IIQQQQQQ", _LOAD, 6, 0, 0, 0, size, size, 4096)
    segments += struct.pack("<IIQQQQQQ", _DYNAMIC, 6, at_dynamic, at_dynamic, at_dynamic, dynamic_size, dynamic_size, 8)
    segments += struct.pack("<IIQQQQQQ", _STACK, 6, 0, 0, 0, 0, 0, 16)
    layout.data[64 : 64 + len(segments)] = segments
    return bytes(layout.data)
