"""The results of a subject: counts, problems, and what was not tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.text import one_line


@dataclass
class Recorder:
    """The results of one subject."""

    subject: str
    unit: str  # what is counted: "checks", "loaded"
    count: int = 0  # of what was checked, good or bad
    problems: list[Problem] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)  # for --verbose
    not_tried: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def good(self, what: str) -> None:
        """Counts a check that passed."""
        self.count += 1
        self.passed.append(one_line(what))

    def skip(self, what: str) -> None:
        """Records something that was not checked, with the reason."""
        self.not_tried.append(one_line(what))

    def bad(self, code: str, path: str | None = None, **facts: object) -> None:
        """Counts a check that failed, as an entry of the registry with the facts that it names."""
        self.count += 1
        self.say(code, path, **facts)

    def add(self, found: Problem) -> None:
        """Counts a check that failed, as a problem."""
        self.count += 1
        self.problems.append(found)

    def say(self, code: str, path: str | None = None, **facts: object) -> None:
        """Records a problem of something that is counted elsewhere."""
        self.problems.append(problem(code, path, **facts))

    @property
    def failed(self) -> int:
        """The number of errors."""
        return sum(found.severity == "error" for found in self.problems)
