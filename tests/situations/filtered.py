"""A program below a filter of system calls (seccomp(2)): filtered.py NUMBER... -- PROGRAM WORD...

A container's filter refuses with EPERM.
"""

import ctypes
import os
import struct
import sys

_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2  # prctl(2)
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _statement(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def main() -> None:
    """Become the program behind `--`, and never return."""
    end = sys.argv.index("--")
    statements = [_statement(_LOAD, 0)]
    for number in sys.argv[1:end]:
        statements += [_statement(_JUMP_EQUAL, int(number), 0, 1), _statement(_RETURN, _REFUSE)]
    statements.append(_statement(_RETURN, _ALLOW))
    program = _Program(len(statements), b"".join(statements))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program)) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


main()
