"""The limits of an installer, whose index may be hostile. RLIMIT_AS would count what it reserves and never touches."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from glob import glob

from rocm_sdk.base.processes import number_of
from rocm_sdk.base.value_text import size_text

from .install_errors import InstallRefusedError

# Both take less than 0.1 GB for a wheel of 3 GB.
MEMORY = min(4_000_000_000, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
SECONDS, STEP = 600.0, 1_000_000  # a megabyte written counts as progress: pages are smaller


def watch_of(installer: str, index: str) -> Callable[[int], None]:
    """Return a function that ends an installer, by its process ID, once it exceeds a limit, and says so."""
    seen, since = 0, time.monotonic()

    def watch(process: int) -> None:
        nonlocal seen, since
        processes = _with_children(process)
        written = sum(number_of(each, "io", "wchar:") for each in processes)
        if abs(written - seen) >= STEP:
            seen, since = written, time.monotonic()
        if sum(number_of(each, "status", "RssAnon:") for each in processes) > MEMORY // 1024:
            what = f"took more than {size_text(MEMORY)} of memory and was ended: a page may have no end"
        elif time.monotonic() - since > SECONDS:
            what = f"wrote less than {size_text(STEP)} within {SECONDS:g} s and was ended: it makes no progress"
        else:
            return
        for each in processes:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        raise InstallRefusedError(f"{installer} at {index} {what}", "ask those who run the index, or take a mirror")

    return watch


def _with_children(process: int) -> list[int]:
    found = [process]
    for path in glob(f"/proc/{process}/task/*/children"):
        with suppress(OSError), open(path, encoding="ascii") as file:  # the process may have ended
            found += [each for child in file.read().split() for each in _with_children(int(child))]
    return found
