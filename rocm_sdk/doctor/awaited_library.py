"""The library that keeps a process from starting, going on or ending, as the process's stack shows it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Call = tuple[str, str | None]  # file, exported function

_OPENING = {"dlopen", "dlmopen"}


class Waiting(NamedTuple):
    """A library that a thread waits in."""

    library: str | None  # the library of the constructor; None: an exit handler waits
    text: str


def explained(calls: Sequence[Call]) -> str | None:
    """Return words for the library that keeps a program from starting or ending; None if it does neither.

    calls: the calls of the first thread, the innermost first.
    """
    found = waiting(calls)
    return found.text if found is not None else None


def waiting(calls: Sequence[Call], *, is_first: bool = True) -> Waiting | None:
    """Return the library that keeps a thread from going on; None if none does.

    calls: the innermost first. is_first: whether it is the thread that starts the program. Frames of the C library and
    of the linker count only beside one of a library: by themselves they say no more than that the thread waits.
    """
    end = next((at for at, call in enumerate(calls) if call[1] == "exit" and _is_c_library(call[0])), None)
    found = _constructor(calls[end + 1 :] if end is not None else _from_waiting(calls), is_first=is_first)
    constructor = found[0] if found is not None else None
    if end is None and found is not None:
        place = _place(found[1])
        said = (
            f"a constructor of {constructor} waits in {place}" if place else f"{constructor} waits in its constructor"
        )
        return Waiting(constructor, said)
    if end is None:
        return None
    handlers = [path for path, _ in calls[:end] if not _is_system(path)]
    place = _place(calls[:end])
    waits = f"waits in {place}" if place is not None else "waits"
    handler = f"an exit handler of {handlers[-1]} {waits}" if handlers else "an exit handler waits"
    if constructor is None:
        return Waiting(None, handler)
    return Waiting(constructor, f"a constructor of {constructor} called exit(), and {handler}")


def _from_waiting(calls: Sequence[Call]) -> Sequence[Call]:
    """Return the calls from the function of the C library in which a program waits.

    Calls that seem to be further in may be leftovers on the stack: below pause() of glibc 2.41 there is an address in
    the linker. A call of the linker comes from dlopen() and the like, or from no function with a name.
    """
    start = 0
    for at, (path, function) in enumerate(calls):
        if not _is_system(path):
            break
        if _is_c_library(path) and function is not None and not function.lstrip("_").startswith("dl"):
            start = at
    return calls[start:]


def _constructor(calls: Sequence[Call], *, is_first: bool) -> tuple[str, Sequence[Call]] | None:
    """Return the library that the dynamic linker is initialising, and the calls down to the linker's.

    The library is the one that the linker calls.
    """
    for at, ((path, _), (caller, _)) in enumerate(pairwise(calls)):
        if not _is_linker(caller):
            continue
        inner, outer = calls[: at + 1], calls[at + 1 :]
        is_stale = not _of_programs(inner).isdisjoint(_of_programs(outer)) or not _is_loading(outer, is_first=is_first)
        return None if _is_system(path) or is_stale else (path, inner)
    return None


def _of_programs(calls: Sequence[Call]) -> set[str]:
    """Return the files of calls except the system's.

    A constructor does not wait in the code that has called dlopen().
    """
    return {path for path, _ in calls if not _is_system(path)}


def _is_loading(calls: Sequence[Call], *, is_first: bool) -> bool:
    """Return whether the linker may be at work: it starts the program, or somebody called dlopen().

    An address in the linker may be left on the stack of a program that has started long ago.
    """
    for path, function in calls:
        if function in _OPENING and _is_system(path):
            return True
        if function is not None and function.startswith("__libc_start_main"):
            return False
    return is_first


def _place(calls: Sequence[Call]) -> str | None:
    """Return the innermost functions that have names, down to one that is not the system's.

    The result is None if there is none.
    """
    names: list[str] = []
    for path, function in calls:
        if function is not None:
            names.append(f"{function} ({os.path.basename(path)})")
        if function is not None and not _is_system(path):
            return ", called by ".join((*names[:-1][:2], names[-1]))
    return None


def _is_linker(path: str) -> bool:
    return os.path.basename(path).startswith("ld-")


def _is_c_library(path: str) -> bool:
    return os.path.basename(path).startswith(("libc.so", "libc-"))


def _is_system(path: str) -> bool:
    return _is_linker(path) or _is_c_library(path) or os.path.basename(path).startswith("libpthread")
