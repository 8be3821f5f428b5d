"""What the user sees of a long expansion: a bar on a terminal, a line every few seconds elsewhere, nothing if quiet."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

_BAR = "{desc}  {bar}  {unit}  {elapsed}"
_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_UPDATES = 0.1


class Reporter:
    """Speaks on stderr, unless it is quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, text: str) -> None:
        """One line."""
        if not self.quiet:
            print(f"rocm-sdk: {text}", file=sys.stderr, flush=True)

    def progress(self, title: str, total: int) -> Progress:
        """The progress of something that reads `total` bytes."""
        return Progress(self, title, total)


class Progress:
    """Files and bytes that were written so far, shown from time to time."""

    def __init__(self, reporter: Reporter, title: str, total: int) -> None:
        self._reporter = reporter
        self._title = title
        self._files = 0
        self._bytes = 0
        self._started = self._shown = time.monotonic()
        self._bar = None if reporter.quiet else _make_bar(title, total)
        self._interval = _SECONDS_BETWEEN_UPDATES if self._bar else _SECONDS_BETWEEN_LINES

    def add(self, size: int, archive_position: int) -> None:
        """One more file of `size` bytes; `archive_position` of `total` bytes are read."""
        self._files += 1
        self._bytes += size
        # Asking for the time costs next to nothing beside making a file.
        now = time.monotonic()
        if now - self._shown >= self._interval:
            self._shown = now
            self._show(archive_position)

    def finish(self) -> None:
        """The final line."""
        if self._bar is not None:
            self._show(self._bar.total)
            self._bar.close()
        else:
            self._reporter.say(f"{self._title}: {self._counts()}, {time.monotonic() - self._started:.1f} s")

    def abandon(self) -> None:
        """It failed: the bar stays as it is."""
        if self._bar is not None:
            self._bar.close()

    def _show(self, archive_position: int) -> None:
        if self._bar is None:
            self._reporter.say(f"{self._title}: {self._counts()}")
            return
        self._bar.n = archive_position
        self._bar.unit = self._counts()
        self._bar.refresh()

    def _counts(self) -> str:
        size = f"{self._bytes / 1e9:.1f} GB" if self._bytes >= 1e9 else f"{self._bytes / 1e6:.0f} MB"
        return f"{self._files:,} files  {size}"


def _make_bar(title: str, total: int) -> Any:
    """None where there is no terminal, or no tqdm."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return None
    columns, lines = shutil.get_terminal_size()  # unlike tqdm's own, never 0: then it would show nothing
    return tqdm(
        desc=title, total=total, bar_format=_BAR, ascii=" ━", ncols=columns, nrows=lines, file=sys.stderr, mininterval=0
    )
