"""The terminal: colour, progress. NO_COLOR (https://no-color.org) turns colour off, FORCE_COLOR on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from rocm_sdk.devel.reporter import LineReporter, Progress
from rocm_sdk.value_text import one_line

Style = Callable[[str], str]

_CODES = {"bold": 1, "faint": 2, "error": "1;31", "warning": "1;33", "note": 36, "good": 32}
_SECONDS_BETWEEN = 0.1
_CLEAR = "\r\x1b[K"  # back to the beginning of the line, and erase it
_BAR = "━"
_LEAST_BAR = 10  # columns


def style(name: str, stream: TextIO) -> Style:
    """A function that paints text, by a key of _CODES, if `stream` shows it, and else returns it unchanged."""
    if not _has_colour(stream):
        return str
    return lambda text: f"\033[{_CODES[name]}m{text}\033[0m"


def _has_colour(stream: TextIO) -> bool:
    """NO_COLOR counts before FORCE_COLOR, and both before what the stream is."""
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR")) is not None and forced != "":
        return forced != "0"
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal; None for anything else, where lines are not cut."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def can_show(text: str, stream: TextIO) -> bool:
    """Whether the encoding of `stream` has all characters of `text`."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


class StatusLine:
    """A line at the end of the terminal that is overwritten, at most every 0.1 s. Nothing if stderr is no terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self._next = monotonic() + _SECONDS_BETWEEN

    def show(self, make_text: Callable[[int], str], *, now: bool = False) -> None:
        """Shows make_text(columns), cut to the width of the terminal. now: regardless of the time."""
        if not self.is_shown or not (now or monotonic() >= self._next):
            return
        self._next = monotonic() + _SECONDS_BETWEEN
        columns = max(shutil.get_terminal_size().columns - 1, 1)
        self._write(f"{_CLEAR}{make_text(columns)[:columns]}")

    def clear(self) -> None:
        """Erases the line."""
        if self.is_shown:
            self._write(_CLEAR)

    def end(self) -> None:
        """Leaves the line as it is."""
        if self.is_shown:
            self._write("\n")

    def _write(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


class TerminalReporter(LineReporter):
    """Messages and progress of the development tree: a bar on a terminal, lines elsewhere."""

    def progress(self, title: str, total: int) -> Progress:
        """A bar on a terminal."""
        return _Bar(title, total) if sys.stderr.isatty() else super().progress(title, total)


class _Bar(Progress):
    def __init__(self, title: str, total: int) -> None:
        super().__init__(title, total)
        self._line = StatusLine()
        self._sign = _BAR if can_show(_BAR, sys.stderr) else "#"

    def show(self) -> None:
        self._line.show(self._text)

    def finish(self) -> None:
        self.position = self.total
        self._line.show(self._text, now=True)
        self._line.end()

    def abandon(self) -> None:
        self._line.end()

    def _text(self, columns: int) -> str:
        minutes, seconds = divmod(int(self.seconds), 60)
        end = f"{self.counts}  {minutes:02}:{seconds:02}"
        width = max(columns - len(self.title) - len(end) - 4, _LEAST_BAR)
        done = width * min(self.position, self.total) // max(self.total, 1)
        return f"{self.title}  {(self._sign * done).ljust(width)}  {end}"


@contextmanager
def count_progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with the name of each thing that is done. The line is erased at the end."""
    line, done = StatusLine(), 0

    def step(name: str) -> None:
        nonlocal done
        done += 1
        line.show(lambda _: f"{title}: {done:,} of {total:,}  {one_line(name)}")

    try:
        yield step
    finally:
        line.clear()
