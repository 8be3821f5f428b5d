"""The costs of the suite in processor seconds: a run ends with a table of directories, and with the dearest cases.

The seconds of a directory that nobody had changed differed by a fifth from run to run, so that directories have no
budget. `--seconds FILE` writes a row for each case.
"""

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path, PurePath

import build_command
import pytest

_DEAREST = 10
_SPENT = "processor_seconds"


def spent() -> float:
    """Return the seconds of this process, of children that have ended, and of forks; `os.times` counts hundredths."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + build_command.seconds()


def directory_of(node: str) -> str:
    """Return the directory below tests/ that a case counts for; `.` for a file beside them."""
    parts = PurePath(node.partition("::")[0].removeprefix("tests/")).parts
    return parts[0] if len(parts) > 1 else "."


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this module."""
    parser.addoption("--seconds", metavar="FILE", help="write the processor seconds of each case to a table")


class Meter:
    """The pytest plugin that measures each phase of a case in a worker, and adds them up where the reports arrive."""

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
        report.user_properties.append((_SPENT, now - self.before))
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.cases[report.nodeid] += dict(report.user_properties).get(_SPENT, 0.0)

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
        line("seconds  cases")
        for name, value in seconds.most_common():
            line(f"{value:7.1f} {numbers[name]:6}  {name}")
        line(f"{seconds.total():7.1f} {numbers.total():6}  in all; the dearest:")
        for node, value in self.cases.most_common(_DEAREST):
            line(f"{value:14.1f}  {node}")
        if config.getoption("seconds"):
            rows = (f"{value:.3f}\t{node}\n" for node, value in self.cases.most_common())
            Path(config.getoption("seconds")).write_text("".join(rows), encoding="utf-8")
