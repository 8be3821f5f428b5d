"""The parts of the suite, of which `--only` runs one.

first        all of loader, gpu, device_code and C, and of every other test the first case, less what is marked `slow`
             or `long` and not `always`
usual        all but what is marked `long`, and the directories of LONG
rest         the usual cases that are not of the first part
long         what `usual` leaves out
interpreter  the rows of `interpreter_tests.py`; `smoke` is a part of these
"""

from pathlib import PurePath

import pytest
from interpreter_tests import INTERPRETER, SMOKE

WHOLE = {"loader", "gpu", "device_code", "test_c_suite.py"}
LONG = {"attack", "cluster", "foreign"}
ROWS = {"interpreter": {*INTERPRETER}, "smoke": {*SMOKE}}
PARTS = ("first", "usual", "rest", "long", *ROWS)
MARKERS = (
    "slow: takes more than 0.6 processor seconds; `make test` leaves it out",
    "always: `make test` runs it, whatever it takes; it notices faults that no quicker test notices",
    "long: `make test-long` runs it, and nothing else does",
)


def names(node: str) -> list[str]:
    """Return the rows that would name a case or file: itself, its test, its file, the directories above."""
    path, _, case = node.partition("::")
    places = [place.as_posix() for place in (PurePath(path), *PurePath(path).parents)]
    return [node, f"{path}::{case.partition('[')[0]}", *places] if case else places


def chosen(part: str, items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of a part, among all that were collected.

    Raises:
        pytest.UsageError: a row of `interpreter_tests.py` names no case of a file that was collected.
    """
    nodes = {item: names(item.nodeid.removeprefix("tests/")) for item in items}
    if part in ROWS:
        there = {name for each in nodes.values() for name in each}
        lost = {row for row in ROWS[part] - there if row.partition("::")[0] in there}
        if lost:
            raise pytest.UsageError(f"tests/interpreter_tests.py: there is no {', '.join(sorted(lost))}")
        return [item for item, its in nodes.items() if not ROWS[part].isdisjoint(its)]
    first_cases = {*{its[1]: item for item, its in reversed(nodes.items())}.values()}
    long = {item for item, its in nodes.items() if item.get_closest_marker("long") or not LONG.isdisjoint(its)}
    slow = {item for item in items if item in long or item.get_closest_marker("slow")}
    always = {item for item in items if item.get_closest_marker("always")}
    quick = {
        item
        for item, its in nodes.items()
        if (item in first_cases or not WHOLE.isdisjoint(its)) and (item in always or item not in slow)
    }
    usual = nodes.keys() - long | quick
    parts = {"first": quick, "usual": usual, "rest": usual - quick, "long": long}
    return [item for item in items if item in parts[part]]
