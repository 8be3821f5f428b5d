"""Progress of what takes long: a line that is overwritten, a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rocm_sdk.base.value_text import one_line

from .reporter import LineReporter, Progress
from .style import can_show, width_of

_SECONDS_BETWEEN = 0.1
_CLEAR = "\r\x1b[K"  # back to the beginning of the line, and erase it
_BAR = "━"
_LEAST_BAR = 10  # columns


class StatusLine:
    """A line at the end of the terminal, overwritten at most every 0.1 s. Nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self._next = monotonic() + _SECONDS_BETWEEN

    def show(self, make_text: Callable[[int], str], *, now: bool = False) -> None:
        """Shows make_text(columns), cut to the width of the terminal. now: regardless of the time."""
        if not self.is_shown or not (now or monotonic() >= self._next):
            return
        self._next = monotonic() + _SECONDS_BETWEEN
        columns = max((width_of(sys.stderr) or 1) - 1, 1)
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
