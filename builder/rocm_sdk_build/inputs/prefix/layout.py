"""The places of a prefix's files in the tree of a package, and the changes of texts there."""

from __future__ import annotations

import re
from functools import cache

from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.rules import PrefixRules


def place_of(rules: PrefixRules, path: str) -> str:
    """Return the path in the tree of a file or directory with this path in a prefix."""
    for before, after in rules.places:
        if found := _directory(before).match(path):
            return after + path[found.end() :]
    return path


def is_skipped(rules: PrefixRules, place: str) -> bool:
    """Return whether no package gets the file."""
    return any(matches(place, glob) for glob in rules.skipped)


def rewritten(rules: PrefixRules, place: str, is_moved: bool, content: bytes) -> bytes | None:
    """Return the content of a file in the tree; None: no row is about the file.

    `is_moved` says that the file has another place than in the prefix.
    """
    rows = [row for row in rules.rewrites if matches(place, row.files) and (is_moved or row.when == "any")]
    if not rows:
        return None
    text = content.decode("utf-8", errors="surrogateescape")
    for row in rows:
        text = row.pattern.sub(row.text, text)
    return text.encode("utf-8", errors="surrogateescape")


def has_rewrites(rules: PrefixRules, place: str) -> bool:
    """Return whether a row is about the file, wherever it was."""
    return any(matches(place, row.files) for row in rules.rewrites)


@cache
def _directory(pattern: str) -> re.Pattern[str]:
    """Return the pattern of the beginning of a path; `*` is a part of a name."""
    return re.compile("[^/]*".join(map(re.escape, pattern.split("*"))) + "(?=/|$)")
