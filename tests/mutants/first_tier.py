"""The first tier's share in the tests that should notice a mutation, and the tests that noticed it."""

from collections.abc import Sequence

from source_copy import ROOT
from tiers import FIRST, names, tables

KILLERS = ROOT / "build/killers.tsv"
_C_SUITE = "test_c_suite.py::test_c"


def tests_in_tier(tests: Sequence[str]) -> list[str]:
    """Return the tests of a mutation that are in the first tier, and of the others what the tier has of them."""
    found = []
    for test in tests:
        row = row_of(test)
        if not tables()[FIRST].isdisjoint(names(row)):
            found.append(test)
        else:
            found += [_test_of(each) for each in sorted(tables()[FIRST]) if row in names(each)]
    return found


def is_noticed(change: str) -> bool:
    """Return whether an earlier run saw a test notice a mutation that is in the first tier now."""
    rows = KILLERS.read_text(encoding="utf-8").splitlines() if KILLERS.exists() else []
    noted = dict(row.split("\t") for row in rows)
    return change in noted and not tables()[FIRST].isdisjoint(names(noted[change]))


def note(change: str, killer: str) -> None:
    """Keep what noticed a mutation, for `make tier`."""
    with KILLERS.open("a", encoding="utf-8") as file:
        file.write(f"{change}\t{row_of(killer)}\n")


def row_of(test: str) -> str:
    """Return the row for a test as the table of mutations names it: a path of pytest, or a C program (test_plan)."""
    return test.removeprefix("tests/") if test.startswith("tests/") else f"{_C_SUITE}[{test}]"


def _test_of(row: str) -> str:
    return row.partition("[")[2].rstrip("]") if row.startswith(f"{_C_SUITE}[") else f"tests/{row}"
