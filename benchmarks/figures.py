"""The figures: the results of a benchmark, compared pair by pair, and their targets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Target:
    """The bound that a figure's median must reach."""

    bound: Literal["at most", "at least"]
    value: float

    def is_reached(self, value: float) -> bool:
        """Return whether a value keeps to the bound; a value equal to the bound does."""
        return value <= self.value if self.bound == "at most" else value >= self.value


@dataclass(frozen=True)
class Figure:
    """A line of a benchmark: the median of `count` values, and their spread."""

    what: str
    unit: str
    median: float
    minimum: float
    maximum: float
    count: int
    target: Target | None = None

    @property
    def is_reached(self) -> bool | None:
        """True if the median reaches the target; None without a target."""
        return None if self.target is None else self.target.is_reached(self.median)


def figure(what: str, unit: str, values: Sequence[float], target: Target | None = None) -> Figure:
    """Return the figure that sums values up."""
    return Figure(what, unit, statistics.median(values), min(values), max(values), len(values), target)


def ratio(what: str, over: Sequence[float], under: Sequence[float], target: Target | None = None) -> Figure:
    """Return the median of the quotients of each pair, which is not the quotient of the medians."""
    return figure(what, "x", [a / b for a, b in zip(over, under, strict=True)], target)


def difference(
    what: str, unit: str, left: Sequence[float], right: Sequence[float], target: Target | None = None
) -> Figure:
    """Return the median of the differences of each pair."""
    return figure(what, unit, [a - b for a, b in zip(left, right, strict=True)], target)


def in_turn(rounds: int, runs: Mapping[str, Callable[[], Value]]) -> dict[str, list[Value]]:
    """Run A B A B ..., so that a disturbance of the machine disturbs both; the first round only warms caches."""
    results: dict[str, list[Value]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            value = run()
            if number > 0:
                results[name].append(value)
    return results
