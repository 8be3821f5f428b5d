"""What the user sees while many things are looked at: a line on a terminal that is written over, elsewhere nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rocm_sdk.problems.text import one_line

_SECONDS_BETWEEN = 0.1
_CLEAR = "\r\x1b[K"  # back to the beginning of the line, and erase it


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with the name of each thing that is done. The line is gone at the end."""
    is_terminal, done, shown = sys.stderr.isatty(), 0, monotonic()

    def step(name: str) -> None:
        nonlocal done, shown
        done += 1
        if is_terminal and monotonic() - shown >= _SECONDS_BETWEEN:
            shown = monotonic()
            line = f"{title}: {done:,} of {total:,}  {one_line(name)}"[: shutil.get_terminal_size().columns - 1]
            print(f"{_CLEAR}{line}", end="", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        if is_terminal:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
