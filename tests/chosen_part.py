"""The tests that a run of a part of the suite leaves out, and the rows of its table that found nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiers import FIRST, TESTS, USUAL, is_chosen, is_defined, long_reasons, names, tables


class Part:
    """The pytest plugin that tells at the end of a run which tests it left out, and which rows found nothing."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.found: set[str] = set()  # rows that name a case
        self.cases: tuple[int, int] = (0, 0)  # chosen, left out in files that were read
        self.is_whole = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        self.is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.getoption("keyword")
        nodes = [item.nodeid.removeprefix("tests/") for item in items]
        self.found = {name for node in nodes for name in names(node)}

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.cases = (self.cases[0], self.cases[1] + len(items))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.cases = (len(session.items), self.cases[1])
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["part"] = [sorted(tables()[FIRST] & self.found), self.cases, self.is_whole]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        part = getattr(node, "workeroutput", {}).get("part", ([], self.cases, self.is_whole))
        found, cases, self.is_whole = part
        self.found, self.cases = {*found}, (cases[0], cases[1])

    def lacking(self) -> list[str]:
        """Return the rows of the first tier that name no case of this interpreter, if the whole tier was asked for."""
        return sorted(tables()[FIRST] - self.found) if self.part == FIRST and self.is_whole else []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        if session.config.getoption("lacking"):
            Path(session.config.getoption("lacking")).write_text("".join(f"{row}\n" for row in self.lacking()))
        if session.exitstatus == pytest.ExitCode.OK and not all(map(is_defined, self.lacking())):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Say it last, below the summary line."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and not hasattr(config, "workerinput") and self.cases != (0, 0):
            for line in self._told():
                reporter.write_line(line)

    def _told(self) -> Iterator[str]:
        for row in self.lacking():
            left_behind = "" if is_defined(row) else "; a move left it behind: `make tier`"
            yield f"tests/tiers.tsv: this interpreter has no {row}{left_behind}"
        if self.part == FIRST:
            files = [
                path for path in TESTS.rglob("test_*.py") if not is_chosen(path.relative_to(TESTS).as_posix(), FIRST)
            ]
            yield f"left out: {self.cases[1]} cases of the files that were read, and {len(files)} files"
            yield "    `make test-all` runs all of these that are not long (20 to 40 minutes)"
        if self.part in {FIRST, USUAL}:
            yield f"    `make test-long` runs the long ones: {', '.join(long_reasons())}"
