"""The progress of long work: a bar on a terminal, or a line every ten seconds in a log.

`waiting` is for everything that may take over a second; `TerminalReporter` for the development tree.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TypeVar

from rocm_sdk.base.given import given
from rocm_sdk.base.reporter import LineReporter, Progress
from rocm_sdk.base.value_text import one_line

from .style import can_show, width_of

_SECONDS_BETWEEN = 0.1
_CLEAR = "\r\x1b[K"  # back to the beginning of the line, and erase it
_BAR = "━"
_LEAST_BAR = 10  # columns
_FIRST_TICK, _TICK = 1.0, 0.5  # seconds until work without steps first shows that it goes on, and then again
_SECONDS_BETWEEN_LINES = 10.0
_NOT_CI = ("", "0", "false")
_BAR_FORM, _LINES, _NOTHING = "bar", "lines", "nothing"

_Thing = TypeVar("_Thing")


class StatusLine:
    """A line at the end of the terminal, overwritten at most every 0.1 s.

    Nothing is shown if stderr is not a terminal.
    """

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self._next = monotonic() + _SECONDS_BETWEEN

    def show(self, make_text: Callable[[int], str], *, now: bool = False) -> None:
        """Show make_text(columns), cut to the width of the terminal. now: regardless of the time."""
        if not self.is_shown or not (now or monotonic() >= self._next):
            return
        self._next = monotonic() + _SECONDS_BETWEEN
        columns = max((width_of(sys.stderr) or 1) - 1, 1)
        self._write(f"{_CLEAR}{make_text(columns)[:columns]}")

    def clear(self) -> None:
        """Erase the line."""
        if self.is_shown:
            self._write(_CLEAR)

    def end(self) -> None:
        """Leave the line as it is."""
        if self.is_shown:
            self._write("\n")

    def _write(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


class TerminalReporter(LineReporter):
    """The messages and progress of the development tree: a bar on a terminal, lines elsewhere."""

    def progress(self, title: str, total: int) -> Progress:
        """Return a bar if other waits have one, else progress in lines."""
        return _Bar(title, total) if _form() == _BAR_FORM else super().progress(title, total)


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


# ---- the work that is waited for


def _form() -> str:
    """Return the form in which this run shows progress."""
    if given.quiet:
        return _NOTHING
    if given.progress or os.environ.get("CI", "").lower() not in _NOT_CI:
        return _LINES
    return _BAR_FORM if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else _NOTHING


_open: list[Wait] = []  # the work that is waited for, the innermost last


class Wait:
    """A long piece of work: how much is done, and how much is left. Threads may share it."""

    def __init__(self, title: str, total: int | None = None, measure: Callable[[int], str] = "{:,}".format) -> None:
        """Make the object; `begin` shows it.

        total: the amount of work; None: not known. measure: formats an amount.
        """
        self.title = one_line(title)
        self.total = total
        self._measure = measure
        self._done, self._name = 0, ""
        self._form = _form()
        self._started = self._told = monotonic()
        self._line = StatusLine()
        self._lock, self._ended = Lock(), Event()
        self._ticker = Thread(target=self._tick, daemon=True)
        self._sign = _BAR if can_show(_BAR, sys.stderr) else "#"

    def step(self, name: str = "", amount: int = 1) -> None:
        """Count one more thing as done, or some of it. name: the name of the thing."""
        with self._lock:
            self._done += amount
            self._name = name or self._name
            self._show()

    def reach(self, done: int) -> None:
        """Set the total amount that is known to be done.

        The amount never goes down, and never exceeds what there is to do.
        """
        with self._lock:
            self._done = max(self._done, done if self.total is None else min(done, self.total))
            self._show()

    def begin(self, *, at_once: bool = False) -> None:
        """Show from now on that the work goes on, even if no step is done.

        at_once: show a bar in the first second, too.
        """
        if self._form != _NOTHING:
            _open.append(self)
            if at_once and self._form == _BAR_FORM:
                self._line.show(self._bar, now=True)
            self._ticker.start()

    def end(self) -> None:
        """Erase the line."""
        if self._form == _NOTHING:
            return
        self._ended.set()
        self._ticker.join()
        _open.remove(self)
        if self._form == _BAR_FORM:
            self._line.clear()

    def _tick(self) -> None:
        pause = _FIRST_TICK if self._form == _BAR_FORM else _SECONDS_BETWEEN_LINES
        while not self._ended.wait(pause):
            with self._lock:
                self._show()
            pause = min(pause, _TICK) if self._form == _BAR_FORM else pause

    def _show(self) -> None:
        if self._form == _NOTHING or _open[-1:] != [self]:
            return
        if self._form == _BAR_FORM:
            self._line.show(self._bar)
        elif monotonic() - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = monotonic()
            LineReporter().say(f"{self._text()}; {self._times()}")

    def _text(self) -> str:
        """Return the title, the amounts and the last name: `loading libraries: 3 of 33  librocblas.so.5`."""
        amount = self._measure(self._done) if self._done or self.total is not None else ""
        amount += f" of {self._measure(self.total)}" if self.total is not None else ""
        return f"{self.title}{': ' if amount else ''}{amount}  {one_line(self._name)}".rstrip()

    def _times(self) -> str:
        seconds = monotonic() - self._started
        left = seconds * (self.total - self._done) / self._done if self.total and self._done else 0
        return f"{_clock(seconds)}{f', {_clock(left)} left' if left >= 1 else ''}"

    def _bar(self, columns: int) -> str:
        text, times = self._text(), self._times()
        width = columns - len(text) - len(times) - 4
        if self.total is None or width < _LEAST_BAR:
            return f"{text[: columns - len(times) - 2]}  {times}"
        done = width * min(self._done, self.total) // max(self.total, 1)
        return f"{text}  {(self._sign * done).ljust(width)}  {times}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


@contextmanager
def waiting(
    title: str,
    total: int | None = None,
    measure: Callable[[int], str] = "{:,}".format,
    left: str = "nothing is left behind",
    *,
    at_once: bool = False,
) -> Iterator[Wait]:
    """Yield the display of ongoing work. Of several nested pieces, the innermost is shown.

    left: the words after Ctrl-C. at_once: the work certainly takes long, and is shown before its first second is over.
    """
    wait = Wait(title, total, measure)
    wait.begin(at_once=at_once)
    try:
        yield wait
    except KeyboardInterrupt:
        raise KeyboardInterrupt(left) from None
    finally:
        wait.end()


def with_progress(
    title: str,
    things: Iterable[_Thing],
    count: int,
    left: str = "nothing is left behind",
    name: Callable[[_Thing], str] = str,
) -> Iterator[_Thing]:
    """Yield the things; each is a step, done when the next one is asked for.

    For a single thing, no count is shown. name: returns the name of a thing.
    """
    with waiting(title, count if count > 1 else None, left=left) as wait:
        for each in things:
            yield each
            wait.step(name(each))


@contextmanager
def count_progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with the name of each thing that is done. The line is erased at the end."""
    with waiting(title, total) as wait:
        yield wait.step
