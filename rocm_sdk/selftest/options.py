"""What the caller of the test wants."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """Of `rocm-sdk test`; see its help."""

    deep: bool = False  # read every file
    may_expand: bool = False  # expand the development tree for the tools that need it
    seconds: int = 60  # time limit of each child
    parallel: int = 2  # children at a time
    only: frozenset[str] = field(default=frozenset())  # subjects and codes; empty: all
    skip: frozenset[str] = field(default=frozenset())
