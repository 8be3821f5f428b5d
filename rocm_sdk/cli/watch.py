"""`rocm-sdk run --watch`: says which library a program hangs in, while it loads or ends."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise

from rocm_sdk import _native
from rocm_sdk.terminal.output import complain

_POLL = 0.05  # seconds
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

Call = tuple[str, str | None]  # file, exported function


def run_watched(start: Callable[[], int], seconds: float, name: str) -> int:
    """Runs `start`, which becomes a program or returns a status, in a child; the status. Signals reach the program.

    Each `seconds` the calls of its first thread are looked at; what lasts that long is told once.
    """
    pid = os.fork()
    if pid == 0:
        status = 126
        try:
            status = start()  # returns if it fails, and has told why
        finally:
            os._exit(status)
    for number in _FORWARDED:
        signal.signal(number, lambda number, _frame: _forward(number, pid))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    return _wait(pid, seconds, name)


def _forward(number: int, pid: int) -> None:
    with suppress(ProcessLookupError):  # the same signal has ended it, and its status was just taken
        os.kill(pid, number)


def _wait(pid: int, seconds: float, name: str) -> int:
    seen, told, looked = "", "", time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        time.sleep(_POLL)
        if time.monotonic() - looked < seconds:
            continue
        looked, before = time.monotonic(), seen
        seen = ""
        with suppress(OSError):  # it ends, or the kernel lets nobody look
            seen = explained(_native.stack_of_process(pid)) or ""
        if seen and seen == before and seen != told:
            told = seen
            complain(f"{name} hangs for {seconds:g} s or more: {seen}")


def explained(calls: Sequence[Call]) -> str | None:
    """Which library keeps a program from starting or ending; None if it does neither.

    calls: of the first thread, the innermost first.
    """
    end = next((at for at, call in enumerate(calls) if call[1] == "exit" and _is_c_library(call[0])), None)
    constructor = _constructor(calls[end + 1 :] if end is not None else _from_waiting(calls))
    if end is None:
        return f"a constructor of {constructor} waits in {_place(calls)}" if constructor else None
    handlers = [path for path, _ in calls[:end] if not _is_system(path)]
    handler = f"an exit handler of {handlers[-1]} waits in {_place(calls)}" if handlers else "an exit handler waits"
    return f"a constructor of {constructor} called exit(), and {handler}" if constructor else handler


def _from_waiting(calls: Sequence[Call]) -> Sequence[Call]:
    """The calls from the function of the C library in which a program waits.

    What seems to be further in may be left on the stack from before: below pause() of glibc 2.41 an address in the
    linker is. A call of the linker comes from dlopen() and the like, or from no function with a name.
    """
    start = 0
    for at, (path, function) in enumerate(calls):
        if not _is_system(path):
            break
        if _is_c_library(path) and function is not None and not function.lstrip("_").startswith("dl"):
            start = at
    return calls[start:]


def _constructor(calls: Sequence[Call]) -> str | None:
    """The library that the dynamic linker initialises: the one that it calls."""
    for (path, _), (caller, _) in pairwise(calls):
        if _is_linker(caller) and not _is_system(path):
            return path
        if _is_linker(caller):
            return None
    return None


def _place(calls: Sequence[Call]) -> str:
    """The innermost functions that have names, down to one that is not of the system's."""
    names: list[str] = []
    for path, function in calls:
        if function is not None:
            names.append(f"{function} ({os.path.basename(path)})")
        if function is not None and not _is_system(path):
            break
        if len(names) == 3:
            break
    return ", called by ".join(names) or "a function without a name"


def _is_linker(path: str) -> bool:
    return os.path.basename(path).startswith("ld-")


def _is_c_library(path: str) -> bool:
    return os.path.basename(path).startswith(("libc.so", "libc-"))


def _is_system(path: str) -> bool:
    return _is_linker(path) or _is_c_library(path) or os.path.basename(path).startswith("libpthread")
