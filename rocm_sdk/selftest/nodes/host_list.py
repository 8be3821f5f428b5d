"""Lists of hosts as batch systems write them: node[001-004,7],login1 (Slurm's SLURM_JOB_NODELIST, Flux)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LIMIT = 1 << 20  # names; no cluster has as many
_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


class BadHostListError(ValueError):
    """A text that is no list of hosts."""


def hosts(text: str) -> tuple[str, ...]:
    """The names of a list, each once. Raises BadHostListError."""
    found: dict[str, None] = {}
    for part in _parts(text):
        for name in _expanded(part):
            found[name] = None
            if len(found) > _LIMIT:
                raise BadHostListError(f"it has more than {_LIMIT} hosts")
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """What stands between commas that are not in brackets."""
    start = depth = 0
    for place, letter in enumerate(f"{text},"):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise BadHostListError(f"its brackets do not match: {text!r}")
        if letter == "," and not depth:
            if part := text[start:place].strip():
                yield part
            start = place + 1
    if depth:
        raise BadHostListError(f"its brackets do not match: {text!r}")


def _expanded(part: str) -> Iterator[str]:
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    ranges, _, after = rest.partition("]")
    for each in ranges.split(","):
        match = _RANGE.fullmatch(each.strip())
        if match is None:
            raise BadHostListError(f"{each!r} is neither a number nor a range: {part!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < first + _LIMIT:
            raise BadHostListError(f"{each!r} is a range of no or too many hosts: {part!r}")
        for number in range(first, last + 1):
            for end in _expanded(after):
                yield f"{before}{number:0{len(match[1])}}{end}"
