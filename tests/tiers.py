"""The parts of the suite, by the rows of `tiers.tsv` and of `interpreter_tests.py`.

`first` is the tier that `make test` runs, `long` the one that `make test-long` runs, `usual` is the first tier and all
that is not long (`make test-all`), and `rest` the usual cases that are not in the first tier. A row of a table names a
directory or a file below tests/, a test as pytest names it, or a case with its parameters.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

from interpreter_tests import INTERPRETER, SMOKE

TESTS = Path(__file__).resolve().parent
TABLE = TESTS / "tiers.tsv"
FIRST, LONG, USUAL, REST = "first", "long", "usual", "rest"
HEAD = (
    "# Which tests are in the first tier and which are long. `make tier` writes the rows of the first tier that reach",
    "# or kill, from a measured run; those of a promise (docs/reliability.md) and the long ones are written by hand.",
    "# tier, why, processor seconds of the cases, what is below tests/",
)


class Row(NamedTuple):
    """A row of the table; `seconds` are processor seconds of its cases, None where they were not measured."""

    tier: str
    why: str
    seconds: float | None
    name: str


def read_rows(text: str) -> list[Row]:
    """Return the rows of a table.

    Raises:
        ValueError: a line has not four cells.
    """
    rows = []
    for line in text.splitlines():
        if not line.startswith("#"):
            tier, why, seconds, name = line.split("\t")
            rows.append(Row(tier, why, float(seconds) if seconds else None, name))
    return rows


def written(rows: Iterable[Row]) -> str:
    """Return the text of a table, in the order of tiers and names."""
    lines = [
        "\t".join([row.tier, row.why, "" if row.seconds is None else f"{row.seconds:.2f}", row.name])
        for row in sorted(rows, key=lambda row: (row.tier, row.name))
    ]
    return "\n".join([*HEAD, *lines, ""])


@cache
def tables() -> Mapping[str, frozenset[str]]:
    """Return the names in the table of each part that has one."""
    rows = read_rows(TABLE.read_text(encoding="utf-8"))
    tiers = {tier: frozenset(row.name for row in rows if row.tier == tier) for tier in (FIRST, LONG)}
    return {**tiers, "interpreter": frozenset(INTERPRETER), "smoke": frozenset(SMOKE)}


PARTS = (FIRST, USUAL, REST, LONG, "interpreter", "smoke")


def names(node: str) -> list[str]:
    """Return the rows that would name a case, test or file: itself, its test, its file, the directories above."""
    path, _, case = node.partition("::")
    places = [place.as_posix() for place in (PurePath(path), *PurePath(path).parents)]
    test = f"{path}::{case.partition('[')[0]}"
    return list(dict.fromkeys([node, test, *places])) if case else places


def _is_named(node: str, table: str) -> bool:
    """Return whether a table names a case, or something in a file."""
    return not tables()[table].isdisjoint(names(node)) or ("::" not in node and node in _files(table))


@cache
def _files(part: str) -> frozenset[str]:
    return frozenset(name.partition("::")[0] for name in tables()[part])


def is_chosen(node: str, part: str | None) -> bool:
    """Return whether a part has a case, or a case of this file; without a part, everything is chosen."""
    if part is None:
        return True
    if part == USUAL:
        return _is_named(node, FIRST) or tables()[LONG].isdisjoint(names(node))
    if part == REST:
        return tables()[LONG].isdisjoint(names(node)) and ("::" not in node or not _is_named(node, FIRST))
    return _is_named(node, part)


def is_defined(name: str) -> bool:
    """Return whether what a row names is there: a path, or a test that its file defines."""
    path, _, case = name.partition("::")
    if not case or not (TESTS / path).is_file():
        return not case and (TESTS / path).exists()
    return case.partition("[")[0] in _functions(path)


@cache
def _functions(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


def long_reasons() -> list[str]:
    """Return why tests are long, each reason once."""
    rows = read_rows(TABLE.read_text(encoding="utf-8"))
    return list(dict.fromkeys(row.why for row in rows if row.tier == LONG))
