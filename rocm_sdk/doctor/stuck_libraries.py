"""The libraries in whose constructors a running process waits, as problems."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress

from rocm_sdk import _native
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem

from .awaited_library import Waiting, waiting
from .gpu_driver import awaited_device, facts_of_hang

_TRIES, _PAUSE = 5, 0.02  # looks at a running thread, and seconds between them
_BETWEEN = 0.5  # seconds between two looks: by then, a load that makes progress is elsewhere
_STACK = 1 << 17  # bytes of a stack that are looked at
_THREADS = 64  # of which at most this many are looked at


def hanging_libraries(installation: Installed, pid: int) -> Iterator[Problem]:
    """Yield a problem for each library in which another process's thread waits. A second look must see the same."""
    if pid == os.getpid():
        return
    first = {thread: found for thread in _threads(pid) if (found := _look(pid, thread)) is not None}
    if not first:
        return
    time.sleep(_BETWEEN)
    told: set[str] = set()
    for thread, found in first.items():
        if found.library is None or found.library in told or _look(pid, thread) != found:
            continue
        told.add(found.library)
        needed = [each.path for each in installation.needed_libraries.of(found.library)]
        driver = facts_of_hang([found.library, *needed], awaited_device(pid, thread))
        name = os.path.basename(found.library)
        yield problem("E-LIB-008", found.library, library=name, ran=found.text, **driver)


def _runs(pid: int, thread: int) -> bool:
    """Return whether a thread is running: then the kernel does not show its stack. Raise OSError."""
    with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii") as file:
        return file.read().startswith("running")


def _has_linker_on_stack(pid: int, thread: int) -> bool:
    """Return whether an address in the linker is on the stack of a thread: without one it loads nothing.

    This takes only a read of the stack; the call stack takes a read of all symbols of the process. Raises OSError.
    """
    linkers = []
    with open(f"/proc/{pid}/maps", "rb") as file:
        for line in file:
            fields = line.split(None, 5)
            if len(fields) == 6 and b"x" in fields[1] and os.path.basename(fields[5]).startswith(b"ld-"):
                start, end = fields[0].split(b"-")
                linkers.append((int(start, 16), int(end, 16)))
    with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii") as file:
        *_, stack, _place = file.read().split() or ["running", "", ""]
    if not stack.startswith("0x"):
        return False
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(int(stack, 16))
        words = memoryview(memory.read(_STACK)).cast("B")
    words = words[: len(words) // 8 * 8].cast("Q")
    return any(start <= word < end for word in words for start, end in linkers)


def _threads(pid: int) -> list[int]:
    """Return the threads, the first of which has the number of the process."""
    try:
        numbers = sorted(map(int, os.listdir(f"/proc/{pid}/task")), key=lambda number: (number != pid, number))
    except OSError:
        return []
    return numbers[:_THREADS]


def _look(pid: int, thread: int) -> Waiting | None:
    """Return the library that a thread waits in; None if it waits in none.

    A thread that sleeps between tries runs now and then, and is looked at again.
    """
    with suppress(OSError, ValueError):  # the process has ended, or the kernel does not allow a look
        for _ in range(_TRIES):
            if not _runs(pid, thread):
                break
            time.sleep(_PAUSE)
        if not _has_linker_on_stack(pid, thread):
            return None
        return waiting(_native.stack_of_process(thread), is_first=thread == pid)
    return None
