"""Counts the programs and processes that the tests of this process start, but for what they share."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_EVENTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.system"}


class Counter:
    """Starts until now, and how many callers of `shared` are in it."""

    def __init__(self) -> None:
        self.starts = 0
        self.sharing = 0

    def listen(self) -> None:
        """For good: there is no way to remove a hook."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _: object) -> None:
        if event in _EVENTS and not self.sharing:
            self.starts += 1


COUNTER = Counter()


@contextmanager
def shared() -> Iterator[None]:
    """What is started here is for other tests too, which would start it if this one did not: it counts for none."""
    COUNTER.sharing += 1
    try:
        yield
    finally:
        COUNTER.sharing -= 1
