"""The options of the self test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

# progress(title, total) gives, in a with statement, a function to call with the name of each thing that is done
ShowProgress = Callable[[str, int], AbstractContextManager[Callable[[str], None]]]


@contextmanager
def no_progress(_title: str, _total: int) -> Iterator[Callable[[str], None]]:
    """Shows nothing."""
    yield lambda _name: None


@dataclass(frozen=True)
class Options:
    """See `rocm-sdk test --help`."""

    deep: bool = False  # read every file
    index: str | None = None  # compare with what an index says: its address, "" for the one that is configured
    may_extract: bool = False  # extract the development tree for the tools that need it
    seconds: int = 60  # time limit of each program
    parallel: int = 2  # programs at a time
    only: frozenset[str] = field(default=frozenset())  # subjects and codes; empty: all
    skip: frozenset[str] = field(default=frozenset())
    progress: ShowProgress = no_progress  # shows how far a long subject is
