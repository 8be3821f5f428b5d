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

from rocm_sdk_build.base.pieces import write_all

from .elf64 import EM_X86_64, PT_LOAD, SEGMENT, Segment, read_exactly, read_header, read_segments

_PT_GNU_STACK, _PF_X = 0x6474E551, 1
_FLAGS = 4  # the place of p_flags in a program header
_CHUNK = 1 << 20
_SPAN = 128  # bytes of code that hold all constants of one trampoline
_TO_R10, _TO_R11, _JUMP = re.compile(rb"[\x41\x49]\xba"), re.compile(rb"[\x41\x49]\xbb"), b"\x49\xff"
# Before a constant of 16 bits: movw to memory, or movl to a register.
_IS_CONSTANT = re.compile(rb"(?:\x66\x41?\xc7.{1,6}|[\xb8-\xbf])\Z", re.DOTALL)
_LONGEST = 9  # bytes of the first form


def clear_executable_stack(descriptor: int, path: str) -> bool:
    """Clear PF_X of PT_GNU_STACK in the file that is open; return False if the flag is not set.

    Four bytes of the file change, in place: the file must be the caller's own copy. `path` is its name in errors. Raise
    RewriteError (E-CODE-010) for a file that is not 64-bit, little-endian ELF or whose program headers lie outside it,
    and OSError if the file cannot be read or written.
    """
    _, header = read_header(descriptor, path)
    is_cleared = False
    for number, each in enumerate(read_segments(descriptor, header, path)):
        if each.type == _PT_GNU_STACK and each.flags & _PF_X:
            place = header[4] + number * SEGMENT.size + _FLAGS
            write_all(descriptor, struct.pack("<I", each.flags & ~_PF_X), place)
            is_cleared = True
    return is_cleared


def writes_trampolines(path: str) -> bool | None:
    """Return whether code of a file puts code onto the stack, so that it needs the flag; None if that is unknown.

    The errors are the same as for clear_executable_stack().
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _, header = read_header(descriptor, path)
        if header[1] != EM_X86_64:
            return None
        code = [each for each in read_segments(descriptor, header, path) if each.type == PT_LOAD and each.flags & _PF_X]
        return any(_has_trampoline(piece) for each in code for piece in _pieces(descriptor, each, path))
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, segment: Segment, path: str) -> Iterator[bytes]:
    """Yield the bytes of a segment, in pieces that overlap."""
    for start in range(0, segment.file_size, _CHUNK):
        size = min(_CHUNK + 2 * _SPAN, segment.file_size - start)
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
