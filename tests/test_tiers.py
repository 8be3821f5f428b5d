"""The tables of the suite's parts: each row names something, `--only` runs that alone, a run says what it left out."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from interpreter_tests import INTERPRETER, SMOKE
from programs import completed
from tiers import FIRST, LONG, PARTS, REST, TABLE, USUAL, Row, is_chosen, is_defined, names, read_rows, tables, written

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PYTEST = Path(sys.executable).with_name("pytest")
PROMISE = "promise"
ROWS = read_rows(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", [FIRST, LONG, "interpreter", "smoke"])
def test_each_row_names_something_and_no_row_is_in_another(part: str) -> None:
    rows = tables()[part]
    assert [row for row in rows if not is_defined(row)] == []
    assert [row for row in rows if [each for each in names(row) if each in rows] != [row]] == []


def test_the_table_is_as_the_task_writes_it() -> None:
    assert written(ROWS) == TABLE.read_text(encoding="utf-8")
    assert {row.why for row in ROWS if row.tier == FIRST} == {"kills", PROMISE, "reaches"}


def test_the_smoke_is_a_part_of_what_depends_on_the_interpreter() -> None:
    for row in SMOKE:
        assert not {*names(row)}.isdisjoint(INTERPRETER), row


def test_each_case_is_in_the_parts_that_it_should_be_in() -> None:
    """All is usual or long; the rest is what is usual and not in the first tier."""
    cases = {f"{path.relative_to(TESTS).as_posix()}::test" for path in TESTS.rglob("test_*.py")}
    cases |= {row.name for row in ROWS if "::" in row.name}
    assert len(cases) > 500
    for case in cases:
        chosen = {part for part in PARTS if is_chosen(case, part)} - {"interpreter", "smoke"}
        assert chosen in ({FIRST, USUAL}, {USUAL, REST}, {LONG}, {FIRST, USUAL, LONG}), case
        path = case.partition("::")[0]
        assert all(is_chosen(path, part) for part in chosen), f"{path} is not even read"


def promised() -> Iterator[tuple[str, list[str]]]:
    """Yield each promise of docs/reliability.md that `make test` proves, with its cases."""
    for line in (ROOT / "docs/reliability.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 7 and cells[1] not in {"promise", "---"}:
            yield cells[1], re.findall(r"`([^`]+\.py[^`]*)`", cells[3])


def test_each_promise_has_a_case_in_the_first_tier() -> None:
    """The promises that `make test` cannot prove say why, in the column of their cases."""
    found = dict(promised())
    assert len(found) > 35
    cases = [case for each in found.values() for case in each]
    assert sorted({*cases}) == sorted(row.name for row in ROWS if row.why == PROMISE)
    assert sum(not each for each in found.values()) <= 6, [promise for promise, each in found.items() if not each]


SUITE = {
    "tests/test_one.py": """
import pytest
@pytest.mark.parametrize("x", [1, 2])
def test_named(x): pass
def test_other(): pass
""",
    "tests/test_two.py": "def test_long(): pass",
    "tests/test_three.py": "def test_usual(): pass",
    "tests/conftest.py": """
from pathlib import Path
import chosen_part, tiers
def pytest_addoption(parser):
    parser.addoption("--only")
    parser.addoption("--lacking")
def pytest_configure(config):
    config.pluginmanager.register(chosen_part.Part(config.getoption("only")))
def pytest_collection_modifyitems(config, items):
    chosen = [each for each in items if tiers.is_chosen(each.nodeid[6:], config.getoption("only"))]
    config.hook.pytest_deselected(items=[each for each in items if each not in chosen])
    items[:] = chosen
""",
    "pytest.ini": "[pytest]\npythonpath = tests\ntestpaths = tests\n",
}


def run_small_suite(directory: Path, rows: str, *options: str) -> tuple[int, list[str]]:
    """Run the first tier of a small suite with these rows; the status, and what it says of its rows and of the rest."""
    for name, text in SUITE.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    for name in ("chosen_part.py", "tiers.py", "interpreter_tests.py"):
        (directory / "tests" / name).write_text((TESTS / name).read_text(encoding="utf-8"))
    (directory / "tests/tiers.tsv").write_text(rows)
    run = completed([PYTEST, "--only=first", "-p", "no:cacheprovider", *options], cwd=directory)
    told = [
        line for line in run.stdout.splitlines() if line.startswith(("tests/tiers.tsv: ", "left out: ", "    `make"))
    ]
    return run.returncode, told


@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["one process", "two workers"])
def test_a_run_says_what_it_left_out_and_which_rows_found_nothing(tmp_path: Path, options: tuple[str, ...]) -> None:
    rows = "first\tkills\t0.1\ttest_one.py::test_named[{}]\nlong\tkills and power cuts\t\ttest_two.py\n"
    rest = [
        "left out: 4 cases of the files that were read, and 2 files",
        "    `make test-all` runs all of these that are not long (20 to 40 minutes)",
        "    `make test-long` runs the long ones: kills and power cuts",
    ]
    assert run_small_suite(tmp_path / "found", rows.format(1), *options) == (0, rest)
    status, (lacking, *_) = run_small_suite(tmp_path / "lacking", rows.format(1) + rows.format(3), *options)
    assert (status, lacking) == (0, "tests/tiers.tsv: this interpreter has no test_one.py::test_named[3]")
    moved = rows.format(1) + "first\treaches\t0.1\ttest_one.py::test_moved\n"
    status, (lacking, *_) = run_small_suite(tmp_path / "moved", moved, *options)
    assert status == 1
    assert lacking.endswith("has no test_one.py::test_moved; a move left it behind: `make tier`")
    assert run_small_suite(tmp_path / "a part", moved, "tests/test_one.py", *options)[0] == 0, "asked for a part"


def test_the_option_chooses_the_tests_of_the_table(tmp_path: Path) -> None:
    command = [PYTEST, "--collect-only", "-q", f"--override-ini=cache_dir={tmp_path}"]
    run = subprocess.run([*command, "--only=smoke"], cwd=ROOT, capture_output=True, text=True, check=True)
    tests = [line.removeprefix("tests/") for line in run.stdout.splitlines() if "::" in line]
    found = {row for row in SMOKE for test in tests if row in names(test)}
    assert found == {*SMOKE}
    assert all(not {*names(test)}.isdisjoint(SMOKE) for test in tests)
    assert 40 < len(tests) < 80, "a smoke costs little on each further interpreter"


def test_the_tier_is_chosen_by_what_cases_reach_for_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TESTS / "tier"))
    choosing, reach = importlib.import_module("choosing"), importlib.import_module("reach")
    measured = {
        "a/test_x.py::test_cheap": (0.01, {1}),  # of each test the cheapest case
        "a/test_x.py::test_family[1]": (0.02, {1, 2}),
        "a/test_x.py::test_family[2]": (0.03, {1, 2}),  # reaches no more
        "a/test_x.py::test_family[3]": (5.0, {1, 2, 3}),
        "b/test_y.py::test_dear": (1.0, {1, 4}),  # for its time it reaches more than the third of the family
        "b/test_y.py::test_dearer": (9.0, {5}),  # more than the tier may take
        "c/test_z.py::test_kills[x]": (9.0, set()),
    }
    cases = {name: reach.Case(name, seconds, reach.bits(reached)) for name, (seconds, reached) in measured.items()}
    chosen = choosing.chosen_cases(cases, {"c/test_z.py::test_kills[x]"}, limit=10.2)
    named = [
        "a/test_x.py::test_cheap",
        "a/test_x.py::test_family[1]",
        "b/test_y.py::test_dear",
        "c/test_z.py::test_kills[x]",
    ]
    assert sorted(chosen) == named
    promise = Row(FIRST, PROMISE, 0.01, "a/test_x.py::test_cheap")
    rows = choosing.rows_of(chosen, cases, [promise], {"c/test_z.py::test_kills[x]"})
    assert [(row.why, row.name) for row in sorted(rows, key=lambda row: row.name)] == [
        (PROMISE, "a/test_x.py::test_cheap"),
        ("reaches", "a/test_x.py::test_family[1]"),
        ("reaches", "b/test_y.py::test_dear"),
        ("kills", "c"),  # all of it
    ]
