"""The budget of processor seconds: what fails, and what a run says that measures itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from processor_seconds import TABLE, grown, read_table

ROOT = Path(__file__).resolve().parent.parent
BUDGET = {"builder": 200.0, "cli": 50.0, "gpu": 3.0}


def test_the_table_has_each_directory_of_the_suite() -> None:
    rows = read_table()
    assert all((TABLE.parent / name).is_dir() for name in rows)
    assert min(rows.values()) > 0


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, []),
        ({"cli": 54.0}, []),
        ({"cli": 56.0}, ["cli: 56.0 s, 12% more than 50.0 s"]),
        ({"builder": 225.0}, ["builder: 225.0 s, 12% more than 200.0 s"]),
        ({"gpu": 4.9}, []),
        ({"gpu": 5.1}, ["gpu: 5.1 s, 70% more than 3.0 s"]),
        ({"builder": 20.0}, []),
        ({"builder": 240.0, "cli": 60.0, "gpu": 3.6}, []),
        ({"builder": 240.0, "cli": 75.0, "gpu": 3.6}, ["cli: 75.0 s, 25% more than 60.0 s"]),
        ({"new": 1.0}, ["new: seconds.tsv and the tests do not both have it"]),
    ],
    ids=str,
)
def test_what_is_too_much(change: dict[str, float], wrong: list[str]) -> None:
    """A tenth, also against the others: on another machine all of them may be dearer."""
    assert grown(BUDGET | change, BUDGET) == wrong


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_measures_itself(tmp_path: Path, workers: str) -> None:
    """A part of the suite has not all directories: compared with the table of the whole, it fails."""
    table = tmp_path / "cases"
    command = [Path(sys.executable).with_name("pytest"), f"--numprocesses={workers}", "tests/test_named_tuple.py"]
    options = [f"--override-ini=cache_dir={tmp_path / 'cache'}", f"--seconds={table}", "--compare-seconds"]
    run = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "costs too much: loader: seconds.tsv and the tests do not both have it" in run.stdout
    assert run.stdout.splitlines()[-1].strip("= ").split(" in ")[0].endswith(" passed"), "pytest's own summary is last"
    cases = [line.split("\t") for line in table.read_text().splitlines()]
    assert {name.partition("::")[0] for _, name in cases} == {"tests/test_named_tuple.py"}
    assert all(float(value) > 0 for value, _ in cases)
