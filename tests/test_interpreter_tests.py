"""The tables of what runs on which interpreter: each row names something, and `--only` runs the named tests alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from interpreter_tests import INTERPRETER, SMOKE, TABLES, USUAL, is_chosen, names

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize("table", TABLES)
def test_each_row_names_tests_and_no_row_is_in_another(table: str) -> None:
    rows = TABLES[table]
    for row in rows:
        path, _, function = row.partition("::")
        assert (TESTS / path).exists(), row
        if function:
            tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
            assert function in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}, row
        assert [each for each in rows if each in names(row)] == [row]


def test_the_smoke_is_a_part_of_what_depends_on_the_interpreter() -> None:
    for row in SMOKE:
        assert not {*names(row)}.isdisjoint(INTERPRETER), row


def test_each_test_is_usual_or_long() -> None:
    tests = [f"{path.relative_to(TESTS).as_posix()}::test" for path in TESTS.rglob("test_*.py")]
    tests += [row for row in TABLES["long"] if "::" in row]
    assert {is_chosen(test, None) for test in tests} == {True}
    assert [test for test in tests if is_chosen(test, USUAL) is is_chosen(test, "long")] == []


def test_the_option_chooses_the_tests_of_the_table(tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("pytest"), "--collect-only", "-q", f"--override-ini=cache_dir={tmp_path}"]
    run = subprocess.run([*command, "--only=smoke"], cwd=TESTS.parent, capture_output=True, text=True, check=True)
    tests = [line.removeprefix("tests/") for line in run.stdout.splitlines() if "::" in line]
    found = {row for row in SMOKE for test in tests if row in names(test)}
    assert found == {*SMOKE}
    assert all(not {*names(test)}.isdisjoint(SMOKE) for test in tests)
    assert 40 < len(tests) < 80, "a smoke costs little on each further interpreter"
