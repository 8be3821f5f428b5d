"""Processor seconds of each case and each directory of tests: user and system time of a worker and of its children.

The run ends with a table of directories and the dearest cases. `--seconds FILE` writes a row for each case.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path, PurePath

import pytest

PROPERTY = "processor_seconds"
DEAREST = 10


def spent() -> float:
    """What this process and the children that it waited for have used. `os.times` would count hundredths."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def directory_of(node: str) -> str:
    """The directory below tests/ that a case counts for; `.` for a file beside them."""
    parts = PurePath(node.partition("::")[0].removeprefix("tests/")).parts
    return parts[0] if len(parts) > 1 else "."


def add_options(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", metavar="FILE", help="write the processor seconds of each case to a table")


class Meter:
    """In a worker it measures each phase of a case; where the reports arrive, it adds them up."""

    def __init__(self) -> None:
        self.before = 0.0
        self.cases: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.before = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        now = spent()
        report = yield
        report.user_properties.append((PROPERTY, now - self.before))
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.cases[report.nodeid] += sum(value for name, value in report.user_properties if name == PROPERTY)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if not self.cases:
            return
        seconds: Counter[str] = Counter()
        numbers: Counter[str] = Counter()
        for node, value in self.cases.items():
            seconds[directory_of(node)] += value
            numbers[directory_of(node)] += 1
        terminalreporter.section("processor seconds")
        for directory, value in seconds.most_common():
            terminalreporter.write_line(f"{value:8.1f} s {numbers[directory]:5} cases  {directory}")
        terminalreporter.write_line(f"{seconds.total():8.1f} s {numbers.total():5} cases  in all; the dearest:")
        for node, value in self.cases.most_common(DEAREST):
            terminalreporter.write_line(f"{value:8.1f} s  {node}")
        if config.getoption("seconds"):
            rows = (f"{value:.3f}\t{node}\n" for node, value in self.cases.most_common())
            Path(config.getoption("seconds")).write_text("".join(rows), encoding="utf-8")
