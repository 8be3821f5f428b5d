"""Processor seconds of each case and each directory of tests: user and system time of a worker and of its children.

A run ends with a table of directories and the dearest cases. `--seconds FILE` writes a row for each case. A run of the
whole suite is compared with tests/seconds.tsv (`--compare-seconds`), or writes it (`--write-seconds`).

Machines differ, and so do minutes on one of them, where others work on it. Each worker measures a reference job again
and again; the table has seconds of a machine on which that job takes REFERENCE. Elsewhere the start of a process may be
dearer than that, for all directories: one fails where it has grown by a tenth, and by a tenth against the others too.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Mapping
from pathlib import Path, PurePath

import pytest

TABLE = Path(__file__).with_name("seconds.tsv")
GROWTH = 1.1
LEAST = 2.0  # seconds: what a small directory may grow by
REFERENCE = 0.05
_EVERY = 10.0  # seconds between two reference jobs
_DEAREST = 10
_JOB = "import argparse, hashlib, json, subprocess, tempfile; hashlib.sha256(bytes(1 << 24)).digest()"
_SPENT, _JOB_TOOK = "processor_seconds", "reference_seconds"


def spent() -> float:
    """What this process and the children that it waited for have used. `os.times` would count hundredths."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def directory_of(node: str) -> str:
    """The directory below tests/ that a case counts for; `.` for a file beside them."""
    parts = PurePath(node.partition("::")[0].removeprefix("tests/")).parts
    return parts[0] if len(parts) > 1 else "."


def grown(seconds: Mapping[str, float], budget: Mapping[str, float]) -> list[str]:
    """What is wrong with a run of the whole suite."""
    wrong = [f"{name}: {TABLE.name} and the tests do not both have it" for name in sorted({*seconds} ^ {*budget})]
    both = {*seconds} & {*budget}
    for name in sorted(both):
        now, before = seconds[name], budget[name]
        others, others_before = (sum(each[row] for row in both - {name}) for each in (seconds, budget))
        expected = max(before, before * others / others_before) if others_before else before
        if now > max(expected * GROWTH, expected + LEAST):
            wrong.append(f"{name}: {now:.1f} s, {now / expected - 1:.0%} more than {expected:.1f} s")
    return wrong


def read_table() -> dict[str, float]:
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


def write_table(seconds: Mapping[str, float]) -> None:
    head = f"# Processor seconds of a directory of tests where the job of {Path(__file__).name} takes {REFERENCE} s.\n"
    rows = (f"{name}\t{value:.1f}\n" for name, value in sorted(seconds.items(), key=lambda row: -row[1]))
    TABLE.write_text("".join([head, *rows]), encoding="utf-8")


def add_options(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", metavar="FILE", help="write the processor seconds of each case to a table")
    compares, writes = f"fail where a directory costs more than in {TABLE.name}", f"write {TABLE.name}"
    parser.addoption("--compare-seconds", action="store_true", help=f"{compares}, after a run of the whole suite")
    parser.addoption("--write-seconds", action="store_true", help=f"{writes}, after a run of the whole suite")


class Meter:
    """In a worker it measures each phase of a case; where the reports arrive, it adds them up."""

    def __init__(self) -> None:
        self.before = 0.0
        self.next_job = 0.0
        self.found: list[tuple[str, float]] = []  # properties of the next report
        self.cases: Counter[str] = Counter()
        self.directories: Counter[str] = Counter()  # in seconds of the reference machine
        self.jobs: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=5))  # of each worker
        self.wrong: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.before = spent()
        if self.before >= self.next_job:
            subprocess.run([sys.executable, "-I", "-c", _JOB], check=True)
            after = spent()
            self.found.append((_JOB_TOOK, after - self.before))
            self.before, self.next_job = after, after + _EVERY
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        now = spent()
        report = yield
        report.user_properties += [*self.found, (_SPENT, now - self.before)]
        self.before = now
        self.found.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        jobs = self.jobs[getattr(report, "worker_id", "")]
        for name, value in report.user_properties:
            if name == _JOB_TOOK:
                jobs.append(value)
            elif name == _SPENT:
                self.cases[report.nodeid] += value
                self.directories[directory_of(report.nodeid)] += value * REFERENCE * len(jobs) / sum(jobs)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.cases:
            return
        if session.config.getoption("write_seconds"):
            write_table(self.directories)
        elif session.config.getoption("compare_seconds"):
            self.wrong = grown(self.directories, read_table())
            if self.wrong and session.exitstatus == pytest.ExitCode.OK:
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
        terminalreporter.section("processor seconds")
        line("  here  reference  cases")
        for name, value in seconds.most_common():
            line(f"{value:6.1f} {self.directories[name]:10.1f} {numbers[name]:6}  {name}")
        line(f"{seconds.total():6.1f} {self.directories.total():10.1f} {numbers.total():6}  in all; the dearest:")
        for node, value in self.cases.most_common(_DEAREST):
            line(f"{value:6.1f}  {node}")
        for each in self.wrong:
            line(f"costs too much: {each}", red=True)
        if config.getoption("seconds"):
            rows = (f"{value:.3f}\t{node}\n" for node, value in self.cases.most_common())
            Path(config.getoption("seconds")).write_text("".join(rows), encoding="utf-8")
