"""The writer of shared libraries without code, which takes microseconds for a library.

A row needs thousands of libraries, for which a compiler would take minutes. The libraries have all parts on which glibc
insists: a segment, a dynamic section in it, a string table, a symbol table and a hash table.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Sequence

_MACHINES = {"x86_64": 62, "aarch64": 183}  # EM_X86_64, EM_AARCH64
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
_ENTRY = struct.Struct("<qQ")  # Elf64_Dyn
_SYMBOL_SIZE = 24  # size of the Elf64_Sym with which every table begins
_HASH = struct.pack("<4I", 0, 1, 0, 0)  # no bucket
_ALIGNMENT = 0x10000  # a multiple of every page size

_PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 1, 2, 0x6474E551
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 1, 4, 5, 6, 10, 11
_DT_SONAME, _DT_RPATH = 14, 15
_READ_WRITE = 6


def minimal_library(soname: str, needed: Sequence[str] = (), rpath: str | None = None) -> bytes:
    """Return the bytes of a library that needs `needed` and has the given DT_RPATH, if any."""
    names = [(_DT_NEEDED, name) for name in needed] + [(_DT_SONAME, soname)]
    names += [(_DT_RPATH, rpath)] if rpath is not None else []
    strings = bytearray(b"\0")
    entries = []
    for tag, text in names:
        entries.append((tag, len(strings)))
        strings += text.encode() + b"\0"
    dynamic = _HEADER.size + 3 * _SEGMENT.size
    symbols = dynamic + (len(entries) + 6) * _ENTRY.size
    table = symbols + _SYMBOL_SIZE + len(_HASH)
    end = table + len(strings)
    entries += [(_DT_HASH, symbols + _SYMBOL_SIZE), (_DT_STRTAB, table), (_DT_STRSZ, len(strings))]
    entries += [(_DT_SYMTAB, symbols), (_DT_SYMENT, _SYMBOL_SIZE), (0, 0)]
    size = len(entries) * _ENTRY.size
    parts = (
        _HEADER.pack(
            *(b"\x7fELF\x02\x01\x01", 3, _MACHINES[platform.machine()], 1, 0, _HEADER.size, 0, 0),
            *(_HEADER.size, _SEGMENT.size, 3, 0, 0, 0),
        ),
        _SEGMENT.pack(_PT_LOAD, _READ_WRITE, 0, 0, 0, end, end, _ALIGNMENT),
        _SEGMENT.pack(_PT_DYNAMIC, _READ_WRITE, dynamic, dynamic, dynamic, size, size, 8),
        _SEGMENT.pack(_PT_GNU_STACK, _READ_WRITE, 0, 0, 0, 0, 0, 8),
        *(_ENTRY.pack(*entry) for entry in entries),
        bytes(_SYMBOL_SIZE),
        _HASH,
        bytes(strings),
    )
    return b"".join(parts)
