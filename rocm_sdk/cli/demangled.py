"""The names of functions as in the source, by the C++ library of the system (__cxa_demangle).

Names come from untrusted files, and a short name can have a very long result. So a separate process does the work, with
limits on memory and time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from rocm_sdk.base.processes import question, run

_SECONDS = 20
_PROGRAM = """
import ctypes, resource, sys

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
free = ctypes.CDLL(None).free
demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p] + 3 * [ctypes.c_void_p]
free.argtypes = [ctypes.c_void_p]
for name in sys.stdin.read().split():
    made = demangle(name.encode(), None, None, None)
    print(ctypes.string_at(made).decode(errors="replace") if made else name, flush=True)
    free(made)
"""
_MANGLED = re.compile(r"_Z[A-Za-z0-9_.$]{1,4000}")


def demangled(names: Iterable[str]) -> dict[str, str] | None:
    """Return the names in the source by their mangled names; None if libstdc++ is not there or fails."""
    wanted = list(dict.fromkeys(filter(_MANGLED.fullmatch, names)))
    if not wanted:
        return {}
    if getattr(sys, "frozen", False):
        return None  # sys.executable is the program, not an interpreter
    try:
        done = run(question(sys.executable, _PROGRAM), given="\n".join(wanted), seconds=_SECONDS)
    except OSError:
        return None
    made = done.stdout.splitlines()
    return dict(zip(wanted, made, strict=True)) if done.returncode == 0 and len(made) == len(wanted) else None
