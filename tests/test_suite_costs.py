"""The budget of starts of programs: what counts, what fails, and what a run says."""

import os
import re
import sys
from pathlib import Path
from unittest.mock import ANY

import pytest
from programs import completed
from suite_costs import TABLE, Row, grown, read_rows, revised

ROOT = Path(__file__).resolve().parent.parent
ROWS = {"builder": Row(2000, "it is large"), "cli": Row(500, "each option"), "gpu": Row(3, "few")}

CASES = """
import os, subprocess
import pytest
from program_starts import shared
@pytest.fixture(scope="module")
def site():
    subprocess.run("true")
@pytest.fixture
def own():
    subprocess.run("true")
    yield
    subprocess.run("true")
def test_of_a_shared_site(site):
    with shared():
        subprocess.run("true")
@pytest.mark.parametrize("case", "abcd")
def test_of_its_own(own, site, case):
    os.waitpid(os.fork() or os._exit(0), 0)
    os.system("true; true")
"""

CONFTEST = """
from pathlib import Path
import suite_costs
suite_costs.TABLE = Path(__file__).with_name("starts.tsv")
def pytest_addoption(parser):
    parser.addoption("--only")
    suite_costs.add_options(parser)
def pytest_configure(config):
    config.pluginmanager.register(suite_costs.Meter())
"""


def test_the_table_has_directories_of_the_suite() -> None:
    rows = read_rows()
    assert rows
    assert all((TABLE.parent / name).is_dir() and row.reason for name, row in rows.items())


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, []),
        ({"cli": 550}, []),
        ({"cli": 551}, ["cli: 551 starts of programs, its budget is 500"]),
        ({"gpu": 13}, []),
        ({"gpu": 14}, ["gpu: 14 starts of programs, its budget is 3"]),
        ({"builder": 20}, []),
        ({"new": 10}, []),
        ({"new": 11}, ["new: 11 starts of programs, its budget is 0"]),
    ],
    ids=str,
)
def test_what_is_too_much(change: dict[str, int], wrong: list[str]) -> None:
    assert grown({name: row.starts for name, row in ROWS.items()} | change, ROWS) == wrong


def test_a_reason_is_that_of_what_changes() -> None:
    now = {"builder": 2100, "cli": 400, "new": 20}
    assert revised(now, ROWS, "why") == {"builder": ROWS["builder"], "cli": Row(400, "why"), "new": Row(20, "why")}


def test_a_run(tmp_path: Path) -> None:
    """What cases share counts for none, however many workers make it."""
    (tmp_path / "some").mkdir()
    (tmp_path / "some/test_cases.py").write_text(CASES)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").touch()
    table, seconds = tmp_path / "starts.tsv", tmp_path / "seconds"
    table.write_text("# none\n")

    def run(*words: str, workers: int = 0) -> tuple[int, str]:
        command = [
            Path(sys.executable).with_name("pytest"),
            f"--numprocesses={workers}",
            f"--seconds={seconds}",
            *words,
        ]
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        result = completed(command, cwd=tmp_path, env=variables)
        assert "5 passed" in result.stdout.splitlines()[-1], result.stdout + result.stderr
        return result.returncode, result.stdout

    status, text = run("--only=usual", workers=2)
    assert status == 1
    assert "if that is meant: make test REASON='why'" in text
    *_, error, last = text.splitlines()
    assert error == "ERROR tests/starts.tsv - some: 12 starts of programs, its budget is 0"
    assert re.search(r"5 passed, (\d+ warnings?, )?1 error", last)
    assert run("--only=usual", "--reason=four cases") == (0, ANY)
    assert table.read_text().splitlines()[1:] == ["some\t12\tfour cases"]
    assert run("--only=usual") == (0, ANY)
    cases = [line.split("\t") for line in seconds.read_text().splitlines()]
    assert {name.partition("::")[0] for _, name in cases} == {"some/test_cases.py"}
    assert all(float(value) > 0 for value, _ in cases)

    table.write_text("some\t1\tone\nother\t1\tone\n")
    assert run() == (0, ANY), "a run of anything but `make test`"
    status, text = run("--only=usual", "--reason=a part")
    assert status == 1
    assert "ERROR tests/starts.tsv - it is written where the whole suite has passed" in text
    assert table.read_text() == "some\t1\tone\nother\t1\tone\n"
