"""What the suite costs: starts of programs, for which each directory of tests has a budget, and processor seconds.

Seconds have none: those of a directory that nobody had changed differed by a fifth from run to run, where others worked
on the machine. Starts by its cases are the same in each run. What cases share counts for none, since it differs
who makes it: fixtures of more than a case, `shared`, what is removed in the end. What programs start does not count.

A run ends with a table of directories and the dearest cases; `--seconds FILE` writes a row for each case.
"""

import resource
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

import pytest
from interpreter_tests import USUAL
from program_starts import COUNTER, shared

TABLE = Path(__file__).with_name("starts.tsv")
GROWTH = 1.1
LEAST = 10  # starts: what a small directory may grow by
_DEAREST = 10
_SPENT, _STARTED = "processor_seconds", "starts"


class Row(NamedTuple):
    """How many programs a directory starts, and why it does not start fewer."""

    starts: int
    reason: str


def spent() -> float:
    """What this process and the children that it waited for have used. `os.times` would count hundredths."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def directory_of(node: str) -> str:
    """The directory below tests/ that a case counts for; `.` for a file beside them."""
    parts = PurePath(node.partition("::")[0].removeprefix("tests/")).parts
    return parts[0] if len(parts) > 1 else "."


# ---- the budget ----


def grown(starts: Mapping[str, int], rows: Mapping[str, Row]) -> list[str]:
    """Directories that start more programs than they may. A part of the suite starts fewer."""
    wrong = []
    for name, now in sorted(starts.items()):
        before = rows[name].starts if name in rows else 0
        if now > max(before * GROWTH, before + LEAST):
            wrong.append(f"{name}: {now} starts of programs, its budget is {before}")
    return wrong


def revised(starts: Mapping[str, int], rows: Mapping[str, Row], reason: str) -> dict[str, Row]:
    """The rows after a run of the whole suite: the reason is that of the rows that change by more than they may."""
    kept = {name for name, now in starts.items() if name in rows and _is_near(now, rows[name].starts)}
    return {name: rows[name] if name in kept else Row(now, reason) for name, now in starts.items()}


def _is_near(now: int, before: int) -> bool:
    return max(now, before) <= max(min(now, before) * GROWTH, min(now, before) + LEAST)


def read_rows() -> dict[str, Row]:
    cells = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: Row(int(starts), reason) for name, starts, reason in cells}


def write_rows(rows: Mapping[str, Row]) -> None:
    head = "# Programs that the cases of a directory of tests start, in `make test`, and why so many.\n"
    by_starts = sorted(rows.items(), key=lambda row: (-row[1].starts, row[0]))
    lines = (f"{name}\t{row.starts}\t{row.reason}\n" for name, row in by_starts)
    TABLE.write_text("".join([head, *lines]), encoding="utf-8")


# ---- a run ----


def add_options(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", metavar="FILE", help="write the processor seconds of each case to a table")
    parser.addoption("--reason", help=f"write {TABLE.name} where the whole suite has passed: why the budget changes")


class Meter:
    """In a worker it measures each phase of a case; where the reports arrive, it adds them up."""

    def __init__(self) -> None:
        COUNTER.listen()
        self.before = 0.0
        self.starts_before = 0
        self.cases: Counter[str] = Counter()  # seconds
        self.starts: Counter[str] = Counter()  # of each directory
        self.wrong: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.before, self.starts_before = spent(), COUNTER.starts
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        with shared():
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        now, starts = spent(), COUNTER.starts
        report = yield
        report.user_properties += [(_SPENT, now - self.before), (_STARTED, starts - self.starts_before)]
        self.before, self.starts_before = now, starts
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        values = dict(report.user_properties)
        self.cases[report.nodeid] += values.get(_SPENT, 0.0)
        if report.when != "teardown":  # what several cases share ends in that of one
            self.starts[directory_of(report.nodeid)] += values.get(_STARTED, 0)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        is_worker = hasattr(session.config, "workerinput")
        if not self.cases or is_worker or session.config.getoption("only") != USUAL:
            return
        rows, reason = read_rows(), session.config.getoption("reason")
        passed = session.exitstatus == pytest.ExitCode.OK
        if reason and passed and {*rows} <= {*self.starts}:
            write_rows(revised(self.starts, rows, reason))
            return
        self.wrong = grown(self.starts, rows)
        if reason:
            self.wrong.append("it is written where the whole suite has passed")
        if self.wrong and passed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if not self.cases:
            return
        seconds: Counter[str] = Counter()
        numbers: Counter[str] = Counter()
        for node, value in self.cases.items():
            seconds[directory_of(node)] += value
            numbers[directory_of(node)] += 1
        line = terminalreporter.write_line
        terminalreporter.section("starts of programs and processor seconds")
        line("starts  seconds  cases")
        for name, value in seconds.most_common():
            line(f"{self.starts[name]:6} {value:8.1f} {numbers[name]:6}  {name}")
        line(f"{self.starts.total():6} {seconds.total():8.1f} {numbers.total():6}  in all; the dearest in seconds:")
        for node, value in self.cases.most_common(_DEAREST):
            line(f"{value:15.1f}  {node}")
        if self.wrong:
            line("if that is meant: make test REASON='why', and commit the file", red=True)
        # As errors: what ends a run with a status is in its last lines, which say else that all has passed.
        reports = [pytest.CollectReport(f"tests/{TABLE.name}", "failed", each, None) for each in self.wrong]
        terminalreporter.stats.setdefault("error", []).extend(reports)
        if config.getoption("seconds"):
            rows = (f"{value:.3f}\t{node}\n" for node, value in self.cases.most_common())
            Path(config.getoption("seconds")).write_text("".join(rows), encoding="utf-8")
