"""Patterns over relative paths, in the dialect of artifact descriptions.

A pattern must match the whole path. `*` and `?` stand for any run of characters without `/`. `/**/` stands for any
number of directories, a leading `**/` for an optional prefix, and a trailing `/**` for a directory and all paths below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    head = ""
    if pattern.startswith("**/"):
        head, pattern = "(?:.*/)?", pattern[3:]
    tail = ""
    if pattern.endswith("/**"):
        tail, pattern = "(?:/.*)?", pattern[:-3]
    parts = pattern.split("/**/")
    middle = "/(?:.*/)?".join("".join("[^/]*" if c in "*?" else re.escape(c) for c in part) for part in parts)
    return re.compile(head + middle + tail, re.DOTALL)


def matches(path: str, pattern: str) -> bool:
    """Return whether the pattern stands for the path."""
    return _compiled(pattern).fullmatch(path) is not None


def is_selected(path: str, includes: Iterable[str], excludes: Iterable[str]) -> bool:
    """Return whether one of the includes matches, or there are no includes, and no exclude matches."""
    wanted = list(includes)
    return (not wanted or any(matches(path, each) for each in wanted)) and not any(matches(path, e) for e in excludes)
