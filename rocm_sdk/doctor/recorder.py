"""The arguments of a subject: its options, and the recorder of what it counts, finds, or does not try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm_sdk.base.value_text import one_line
from rocm_sdk.installed.installer import installation_facts
from rocm_sdk.problems import Problem, problem

if TYPE_CHECKING:
    from rocm_sdk._native import Code
    from rocm_sdk.problems.problem import Known

    from .surroundings import Child


# progress(title, total) gives, in a with statement, a function to call with the name of each thing that is done
ShowProgress = Callable[[str, int], AbstractContextManager[Callable[[str], None]]]


@contextmanager
def no_progress(_title: str, _total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows nothing."""
    yield lambda _name: None


@dataclass(frozen=True)
class Options:
    """The options of a test: see `rocm-sdk test --help`."""

    deep: bool = False  # read every file
    may_extract: bool = False  # extract the development tree for the tools that need it
    seconds: int = 60  # time limit of each program
    parallel: int = 2  # programs at a time
    only: frozenset[str] = field(default=frozenset())  # subjects and codes; empty: all
    skip: frozenset[str] = field(default=frozenset())
    progress: ShowProgress = no_progress  # shows how far a long subject has come


@dataclass
class Recorder:
    """The results of one subject."""

    subject: str
    unit: str  # the unit of the count: "checks", "loaded"
    site: str | None = None  # of the tested installation
    count: int = 0  # the number of checks, good or bad
    problems: list[Problem] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)  # for --checks
    not_tried: list[str] = field(default_factory=list)
    seconds: float = 0.0
    children: list[tuple[Problem, Child]] = field(default_factory=list)  # problems of programs that can run again
    known: Known = field(default=installation_facts, repr=False)  # how the packages were installed

    def good(self, what: str, *, counts: bool = True) -> None:
        """Record a check that passed. counts: whether the subject counts the check."""
        self.count += counts
        self.passed.append(one_line(what))

    def skip(self, what: str) -> None:
        """Record something that was not checked, with the reason."""
        self.not_tried.append(one_line(what))

    def bad(
        self,
        code: Code,
        path: str | None = None,
        breaks: str | None = None,
        child: Child | None = None,
        /,
        **facts: object,
    ) -> None:
        """Count a check that failed, as an entry of the table with the facts that it names.

        breaks: what does not work because of it. child: the program that failed.
        """
        self.add(self._problem(code, path, facts), breaks, child)

    def add(self, found: Problem, breaks: str | None = None, child: Child | None = None) -> None:
        """Count a check that failed, as a problem."""
        self.count += 1
        found = found._replace(breaks=(*found.breaks, one_line(breaks)) if breaks is not None else found.breaks)
        self.problems.append(found)
        if child is not None:
            self.children.append((found, child))

    def say(self, code: Code, path: str | None = None, /, **facts: object) -> None:
        """Record a problem with something that is counted elsewhere."""
        self.problems.append(self._problem(code, path, facts))

    def _problem(self, code: Code, path: str | None, facts: dict[str, object]) -> Problem:
        return problem(code, path, self.site, self.known, **facts)

    @property
    def failed(self) -> int:
        """The number of errors, counting each failed check."""
        return sum(found.severity == "error" for found in self.problems)
