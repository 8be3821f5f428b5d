"""The command `rocm-sdk run --watch`, which names the library in which a program hangs as it starts or ends."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from rocm_sdk import _native
from rocm_sdk.doctor.awaited_library import explained
from rocm_sdk.terminal.output import complain

_POLL = 0.05  # seconds
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def run_watched(start: Callable[[], int], seconds: float, name: str) -> int:
    """Run `start`, which becomes a program or returns a status, in a child.

    Return the status. Signals reach the program. Every `seconds`, look at the call stack of its first thread, and
    report a call that lasts that long, once.
    """
    pid = os.fork()
    if pid == 0:
        status = 126
        try:
            status = start()  # returns only if it fails, after a message
        finally:
            os._exit(status)
    for number in _FORWARDED:
        signal.signal(number, lambda number, _frame: _forward(number, pid))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    return _wait(pid, seconds, name)


def _forward(number: int, pid: int) -> None:
    with suppress(ProcessLookupError):  # the same signal has ended the program, and its status was just taken
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
        with suppress(OSError):  # the program has ended, or the kernel does not allow a look
            seen = explained(_native.stack_of_process(pid)) or ""
        if seen and seen == before and seen != told:
            told = seen
            complain(f"{name} hangs for {seconds:g} s or more: {seen}")
