"""The assignment of the tree's files to packages."""

from __future__ import annotations

from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.rules import Rules

DEVEL = "devel"
_OF_ROCM = ("core", "libraries", "device", "profiler")


class Classification:
    """The rows of a table that are about prefixes."""

    def __init__(self, rules: Rules) -> None:
        included = [(part, glob) for part, row in rules.packages.items() for glob in row.includes]
        self.rows = (*included, *rules.prefix.parts)
        self.excludes = {part: row.excludes for part, row in rules.packages.items()}
        self.members = rules.prefix.members
        self.known: dict[str, str | None] = {}

    def part_of(self, place: str) -> str | None:
        """Return the package that a row names, or "devel"; None: no row takes the file."""
        if place not in self.known:
            self.known[place] = self._first(place)
        return self.known[place]

    def _first(self, place: str) -> str | None:
        for part, glob in self.rows:
            if matches(place, glob) and not any(matches(place, each) for each in self.excludes.get(part, ())):
                return part
        return None

    def is_of_rocm(self, place: str) -> bool:
        """Return whether only a part of ROCm has such a file."""
        return self.part_of(place) in _OF_ROCM or any(matches(place, glob) for glob in self.members)
