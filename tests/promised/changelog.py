"""The newest section of the changelog: which names its lines have in backquotes, below which headings."""

from __future__ import annotations

import re
from typing import NamedTuple

from .tables import Difference

# Headings below which a line about a difference may stand: a name that was announced is not one that was removed.
_HEADINGS = {
    "added": ("Added", "Changed"),
    "changed": ("Changed", "Deprecated", "Fixed", "Security"),
    "removed": ("Removed", "Changed"),
}


class Item(NamedTuple):
    """A line of the changelog, with the lines that continue it: its heading, and its words in backquotes."""

    heading: str
    words: frozenset[str]


def newest_items(text: str) -> list[Item]:
    """Return the items of the first `## ` section; raise ValueError if there is none."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    if len(sections) < 2:
        raise ValueError("CHANGELOG.md: no section `## [...]`")
    items = []
    for part in re.split(r"^### ", sections[1], flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        for item in re.split(r"^- ", rest, flags=re.MULTILINE)[1:]:
            spans = " ".join(re.findall(r"`([^`]+)`", item))
            items.append(Item(heading.strip(), frozenset(re.findall(r"[-\w]+", spans))))
    return items


def is_announced(difference: Difference, items: list[Item]) -> bool:
    """Return whether a line below a fitting heading has the words of the difference in backquotes."""
    headings = _HEADINGS[difference.kind]
    return any(item.heading in headings and item.words.issuperset(difference.words) for item in items)


def demand(difference: Difference) -> str:
    """Return the demand for a line about a difference that no line is about."""
    values = {"added": difference.now, "removed": difference.was}
    value = values.get(difference.kind) or f"was {difference.was!r}, is {difference.now!r}"
    names = " and ".join(f"`{word}`" for word in difference.words)
    return (
        f"{difference.name} is {difference.kind} ({value}): write a line with {names} below"
        f" `### {_HEADINGS[difference.kind][0]}` in the newest section of CHANGELOG.md"
    )
