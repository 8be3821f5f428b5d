"""The flag of a library that wants an executable stack (PF_X of PT_GNU_STACK), which glibc refuses from 2.41 on.

GNU ld sets the flag if one object file has no section .note.GNU-stack, as assembler files without that line. A linked
file does not tell which object asked for the flag, or why. Code that runs on the stack needs an executable stack: a
trampoline, with which a nested function of C, or an internal procedure of Fortran, finds the variables around it. On
x86-64 the code that writes a trampoline has its instructions (mov to r11, mov to r10, jmp to r11) as constants.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.files.pieces import write_all

from .elf64 import PT_LOAD, read_exactly

_PT_GNU_STACK, _PF_X = 0x6474E551, 1
_EM_X86_64 = 62
_IDENT = 16
_CHUNK = 1 << 20
_SPAN = 128  # bytes of code that hold all constants of one trampoline
_TO_R10, _TO_R11, _JUMP = re.compile(rb"[\x41\x49]\xba"), re.compile(rb"[\x41\x49]\xbb"), b"\x49\xff"
# Before a constant of 16 bits: movw to memory, or movl to a register.
_IS_CONSTANT = re.compile(rb"(?:\x66\x41?\xc7.{1,6}|[\xb8-\xbf])\Z", re.DOTALL)
_LONGEST = 9  # bytes of the first form


class _Form(NamedTuple):
    """The form of program headers in one class of files."""

    header: str  # fields from e_type on
    row: str
    flags: int  # place of p_flags in a row
    fields: tuple[int, int, int]  # indices of p_flags, p_offset, p_filesz


_FORMS = {1: _Form("HHIIIIIHHHHHH", "IIIIIIII", 24, (6, 1, 4)), 2: _Form("HHIQQQIHHHHHH", "IIQQQQQQ", 4, (1, 2, 5))}
_ORDERS = {1: "<", 2: ">"}


class _Segment(NamedTuple):
    """A program header; `place` is the place of its p_flags in the file."""

    type: int
    flags: int
    offset: int
    size: int
    place: int


def clear_executable_stack(descriptor: int, path: str) -> bool:
    """Clear PF_X of PT_GNU_STACK in the file that is open; return False if the flag is not set.

    Four bytes of the file change, in place: the file must be the caller's own copy. `path` is its name in errors. Raise
    RewriteError (E-CODE-010) for a file that is not an ELF file or whose program headers lie outside it, and OSError if
    the file cannot be read or written.
    """
    _, order, segments = _read(descriptor, path)
    wrong = [each for each in segments if each.type == _PT_GNU_STACK and each.flags & _PF_X]
    for each in wrong:
        write_all(descriptor, struct.pack(f"{order}I", each.flags & ~_PF_X), each.place)
    return bool(wrong)


def writes_trampolines(path: str) -> bool | None:
    """Return whether code of a file puts code onto the stack, so that it needs the flag; None if that is unknown.

    The errors are the same as for clear_executable_stack().
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        machine, _, segments = _read(descriptor, path)
        if machine != _EM_X86_64:
            return None
        code = [each for each in segments if each.type == PT_LOAD and each.flags & _PF_X]
        return any(_has_trampoline(piece) for each in code for piece in _pieces(descriptor, each, path))
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: str) -> tuple[int, str, list[_Segment]]:
    """Return e_machine, the byte order and the program headers."""
    ident = os.pread(descriptor, _IDENT, 0)
    if len(ident) < _IDENT or ident[:4] != b"\x7fELF" or ident[4] not in _FORMS or ident[5] not in _ORDERS:
        raise refusal(path, "it is not an ELF file")
    form, order = _FORMS[ident[4]], _ORDERS[ident[5]]
    header = struct.Struct(order + form.header)
    row = struct.Struct(order + form.row)
    fields = header.unpack(read_exactly(descriptor, _IDENT, header.size, path))
    machine, table, row_size, count = fields[1], fields[4], fields[8], fields[9]
    if count and row_size != row.size:
        raise refusal(path, "its program headers are not of the size that they must have")
    flags, offset, size = form.fields
    data = read_exactly(descriptor, table, count * row.size, path)
    return (
        machine,
        order,
        [
            _Segment(each[0], each[flags], each[offset], each[size], table + number * row.size + form.flags)
            for number, each in enumerate(row.iter_unpack(data))
        ],
    )


def _pieces(descriptor: int, segment: _Segment, path: str) -> Iterator[bytes]:
    """Yield the bytes of a segment, in pieces that overlap."""
    for start in range(0, segment.size, _CHUNK):
        size = min(_CHUNK + 2 * _SPAN, segment.size - start)
        yield read_exactly(descriptor, segment.offset + start, size, path)


def _has_trampoline(code: bytes) -> bool:
    return any(
        _is_constant(code, found.start())
        and _JUMP in (near := code[max(0, found.start() - _SPAN) : found.start() + _SPAN])
        and any(_is_constant(near, other.start()) for other in _TO_R11.finditer(near))
        for found in _TO_R10.finditer(code)
    )


def _is_constant(code: bytes, place: int) -> bool:
    return _IS_CONSTANT.search(code[max(0, place - _LONGEST) : place]) is not None
