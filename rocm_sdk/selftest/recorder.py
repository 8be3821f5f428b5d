"""What the subjects find: counts, problems of the registry, and what was not tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.text import one_line


@dataclass
class Recorder:
    """The results of one subject."""

    subject: str
    unit: str  # what is counted: "checks", "loaded"
    count: int = 0  # of what was looked at, good or bad
    problems: list[Problem] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)  # what was found to be right, for --verbose
    not_tried: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def good(self, what: str) -> None:
        """One thing that was looked at and is right."""
        self.count += 1
        self.passed.append(one_line(what))

    def skip(self, what: str) -> None:
        """One thing that was not looked at, and why not."""
        self.not_tried.append(one_line(what))

    def bad(self, code: str, path: str | None = None, **facts: object) -> None:
        """One thing that was looked at and is wrong: an entry of the registry, and the facts it asks for."""
        self.count += 1
        self.say(code, path, **facts)

    def say(self, code: str, path: str | None = None, **facts: object) -> None:
        """Something about a thing that is counted elsewhere."""
        self.problems.append(problem(code, path, **facts))

    @property
    def failed(self) -> int:
        """How many errors there are."""
        return sum(found.severity == "error" for found in self.problems)
