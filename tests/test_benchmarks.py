"""The benchmarks work: a smoke run of all rows, and the arithmetic of what they report."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from programs import completed
from system_programs import need

SOURCES = Path(__file__).resolve().parents[1] / "benchmarks"
SHORTNAMES = ("amd_comgr", "amdhip64", "rocm_smi64", "hiprand", "hipsparse")
ROWS = (
    "import",
    "init",
    "init-scale",
    "init-syscalls",
    "bindings",
    "cli",
    "gpus",
    "devel",
    "selftest",
    "codelist",
    "slim",
    "closure",
    "ranks",
    "cold",
    "trampoline",
    "build",
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a directory where `import benchmarks` finds them and no source tree shadows the installed package."""
    (tmp_path / "benchmarks").symlink_to(SOURCES)
    return tmp_path


@pytest.fixture
def figures(benchmarks_parent: Path) -> ModuleType:
    assert benchmarks_parent.is_dir()
    return importlib.import_module("benchmarks.figures")


@pytest.fixture
def budgets(benchmarks_parent: Path) -> ModuleType:
    assert benchmarks_parent.is_dir()
    return importlib.import_module("benchmarks.budgets")


def run_benchmarks(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "--output", ".", *arguments]
    return completed(command, cwd=directory)


@pytest.mark.slow
@pytest.mark.long
def test_smoke_run(directory: Path) -> None:
    need("strace")
    result = run_benchmarks(directory, "--smoke")
    assert result.returncode == 0, result.stdout + result.stderr
    written = json.loads((directory / "benchmarks.json").read_text())
    # what a machine lacks for it is said on standard error
    absent = {row for row in ("ranks", "cold") if f"row {row}: not measured: " in result.stderr}
    assert list(dict.fromkeys(figure["row"] for figure in written["figures"])) == [
        row for row in ROWS if row not in absent
    ]
    for figure in written["figures"]:
        assert figure["minimum"] <= figure["median"] <= figure["maximum"]
        assert f"| {figure['row']} | {figure['what']} | " in result.stdout
        assert (figure["target"] is None) == (figure["reached"] is None)
    (calls,) = (figure for figure in written["figures"] if figure["what"].startswith("calls of our own"))
    files, found = re.search(r"; (\d+) files, .* \+(\d+) openat", calls["what"]).groups()  # type: ignore[union-attr]
    assert int(files) >= len(SHORTNAMES)
    assert int(found) >= int(files), "each file of the plan is read"
    assert sys.version.split()[0] in result.stdout


@pytest.mark.slow
def test_rows_are_chosen_by_name(directory: Path) -> None:
    result = run_benchmarks(directory, "--smoke", "trampoline")
    figures = json.loads((directory / "benchmarks.json").read_text())["figures"]
    assert {figure["row"] for figure in figures} == {"trampoline"}
    assert result.returncode == 0, result.stderr
    result = run_benchmarks(directory, "imports")
    assert result.returncode == 2
    assert "no such row: imports; there are import, init, init-scale, init-syscalls" in result.stderr


def test_a_row_that_cannot_be_measured_says_why(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    command = [sys.executable, "-m", "benchmarks", "--output", ".", "--smoke", "ranks"]
    environment = {"PATH": str(tmp_path / "bin"), "LC_ALL": "C.UTF-8"}
    result = completed(command, cwd=directory, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("row ranks: not measured: unshare, setpriv, squashfuse, ")
    assert json.loads((directory / "benchmarks.json").read_text())["figures"] == []


def test_figures_compare_pair_by_pair(figures: ModuleType) -> None:
    """The machine is slower in the second round: no pair notices."""
    ratio = figures.ratio("", [2.0, 20.0, 3.0], [1.0, 10.0, 1.0])
    assert (ratio.median, ratio.minimum, ratio.maximum, ratio.count) == (2.0, 2.0, 3.0, 3)
    difference = figures.difference("", "ms", [2.0, 20.0, 3.0], [1.0, 19.0, 1.0])
    assert (difference.median, difference.minimum, difference.maximum) == (1.0, 1.0, 2.0)
    with pytest.raises(ValueError, match="zip"):
        figures.ratio("", [1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("bound", "value", "reached"), [("at most", 2.0, True), ("at most", 1.9, False), ("at least", 2.1, False)]
)
def test_a_target_is_set_beside_the_median(figures: ModuleType, bound: str, value: float, reached: bool) -> None:
    figure = figures.figure("", "ms", [1.0, 2.0, 9.0], figures.Target(bound, value))
    assert figure.is_reached is reached
    assert figures.figure("", "ms", [1.0]).is_reached is None


def test_runs_take_turns_after_a_round_that_does_not_count(figures: ModuleType) -> None:
    order: list[str] = []

    def run(name: str) -> int:
        order.append(name)
        return len(order)

    results = figures.in_turn(2, {"a": lambda: run("a"), "b": lambda: run("b")})
    assert order == ["a", "b"] * 3
    assert results == {"a": [3, 5], "b": [4, 6]}


@pytest.mark.parametrize(
    ("name", "count", "fits"),
    [
        *[("a: calls", count, True) for count in (980, 1000, 1020)],
        *[("a: calls", count, False) for count in (979, 1021)],
        *[("a: instructions over b", count, True) for count in (950, 1000, 1050)],
        *[("a: instructions over b", count, False) for count in (949, 1051)],
    ],
)
def test_a_budget_is_met_within_two_percent_and_instructions_within_five(
    budgets: ModuleType, name: str, count: int, fits: bool
) -> None:
    """In both directions: a budget above what is needed hides what grows later."""
    found = budgets.differences({name: budgets.Row(1000, "why")}, {name: count})
    assert found == ({} if fits else {name: f"{count}, its row says 1000"})


def test_rows_and_counts_belong_together(budgets: ModuleType, tmp_path: Path) -> None:
    rows = {"kept": budgets.Row(100, "first"), "changed": budgets.Row(0, "first"), "gone": budgets.Row(5, "first")}
    counts = {"kept": 101, "changed": 1, "new": 7}
    words = {"changed": "1, its row says 0", "gone": "nothing counts it any more", "new": "it has no row"}
    assert budgets.differences(rows, counts) == words
    made = budgets.revised(rows, counts, "because")
    assert made == {"kept": (100, "first"), "changed": (1, "because"), "new": (7, "because")}
    budgets.write_rows(tmp_path / "rows", "here", made)
    assert budgets.read_rows(tmp_path / "rows") == ("here", made)
