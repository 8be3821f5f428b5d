"""The type of a row of the tables."""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """A text of a file (which has it once), its replacement, and the tests of which one must fail."""

    file: str
    before: str
    after: str
    tests: tuple[str, ...]
