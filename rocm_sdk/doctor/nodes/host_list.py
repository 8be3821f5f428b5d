"""Lists of hosts as batch systems write them: node[001-004,7],login1 (Slurm's SLURM_JOB_NODELIST, Flux)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LIMIT = 1 << 20  # names; no cluster has that many
_LONGEST = 255  # letters of a name; the domain name system has 253
_BRACKETS = 8  # of a name
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
_SHOWN = 60  # letters of a list, in a message


class BadHostListError(ValueError):
    """The error for a text that is not a list of hosts."""


def hosts(text: str) -> tuple[str, ...]:
    """Return the names of a list, each once. Raise BadHostListError."""
    found: dict[str, None] = {}
    names = (name for part in _parts(text) for name in _expanded(part))
    for count, name in enumerate(names):
        if count == _LIMIT:
            raise BadHostListError(f"it has more than {_LIMIT} hosts")
        if len(name) > _LONGEST:
            raise BadHostListError(f"{_shown(name)} has {len(name)} letters, and a host at most {_LONGEST}")
        found[name] = None
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts between commas that are not in brackets."""
    start = depth = 0
    for place, letter in enumerate(f"{text},"):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise BadHostListError(f"its brackets do not match: {_shown(text)}")
        if letter == "," and not depth:
            if part := text[start:place].strip():
                yield part
            start = place + 1
    if depth:
        raise BadHostListError(f"its brackets do not match: {_shown(text)}")


def _expanded(part: str) -> Iterator[str]:
    if part.count("[") > _BRACKETS:
        raise BadHostListError(f"{_shown(part)} has more than {_BRACKETS} brackets")
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    ranges, _, after = rest.partition("]")
    for each in ranges.split(","):
        match = _RANGE.fullmatch(each.strip())
        if match is None:
            raise BadHostListError(f"{_shown(each)} is neither a number of up to 18 digits nor a range: {_shown(part)}")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < first + _LIMIT:
            raise BadHostListError(f"{_shown(each)} is a range of no or too many hosts: {_shown(part)}")
        for number in range(first, last + 1):
            for end in _expanded(after):
                yield f"{before}{number:0{len(match[1])}}{end}"


def _shown(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."
