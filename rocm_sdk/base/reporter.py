"""The reports of a long operation on the tree, and their receivers. The command line has its own display."""

from __future__ import annotations

import os
import sys
import time

from rocm_sdk.base.given import given
from rocm_sdk.base.value_text import counted, harmless, size_text

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """A counter of the files and bytes written so far; it shows nothing."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = total
        self.position = 0
        self._started = time.monotonic()
        self._files = 0
        self._bytes = 0

    @property
    def counts(self) -> str:
        """The files and bytes so far: "8,012 files  7.2 MB"."""
        return f"{counted(self._files, 'file')}  {size_text(self._bytes)}"

    @property
    def seconds(self) -> float:
        """The time since the beginning, in seconds."""
        return time.monotonic() - self._started

    def add(self, size: int, position: int) -> None:
        """Count one more file of `size` bytes; `position` of `total` bytes are done."""
        self._files += 1
        self._bytes += size
        self.position = position
        self.show()

    def show(self) -> None:
        """Show the progress. The operation calls this after each file; a display overrides it."""

    def finish(self) -> None:
        """Show that the operation has succeeded."""

    def abandon(self) -> None:
        """Show that the operation has failed."""


class Reporter:
    """A receiver of messages and progress that ignores both."""

    def say(self, text: str) -> None:
        """Take a message."""

    def progress(self, title: str, total: int) -> Progress:
        """Return the progress of an operation that reads `total` bytes."""
        return Progress(title, total)


class LineReporter(Reporter):
    """A reporter that writes each message as a line to stderr, and progress as a line every few seconds."""

    def say(self, text: str) -> None:
        """Write a line."""
        if given.quiet:
            return
        print(f"{given.program}: {harmless(text)}", file=sys.stderr, flush=True)

    def progress(self, title: str, total: int) -> Progress:
        """Return progress in lines."""
        return _LineProgress(self, title, total)


def reporter_of_environment() -> Reporter:
    """Return a silent reporter, or one that writes lines with ROCM_SDK_VERBOSE=1 or --verbose."""
    return LineReporter() if given.verbose or os.environ.get("ROCM_SDK_VERBOSE") == "1" else Reporter()


class _LineProgress(Progress):
    def __init__(self, reporter: Reporter, title: str, total: int) -> None:
        super().__init__(title, total)
        self._reporter = reporter
        self._shown = 0.0

    def show(self) -> None:
        seconds = self.seconds
        if seconds - self._shown >= _SECONDS_BETWEEN_LINES:
            self._shown = seconds
            self._reporter.say(f"{self.title}: {self.counts}")

    def finish(self) -> None:
        self._reporter.say(f"{self.title}: {self.counts}, {self.seconds:.1f} s")
