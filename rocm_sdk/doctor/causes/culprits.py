"""The search for the suspects that make a child fail: it runs again without them, then with each alone.

A try that would end after the time limit is not begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from rocm_sdk.doctor.surroundings import Again, Child, Surroundings, Suspect, slowness

SECONDS = 3.0  # for all tries together, on a machine that has a processor for each program that wants to run


class Outcome(NamedTuple):
    """The results of the tries of a child."""

    culprits: tuple[tuple[Suspect, ...], ...] = ()  # it fails by each group alone; a group of several: by all together
    is_unsteady: bool = False  # it worked when it ran again in the same surroundings
    lack: str | None = None  # the part that was not tried


class Clock:
    """The time that is left for tries."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds * slowness()
        self._end = monotonic() + self.seconds

    @property
    def left(self) -> float:
        """The seconds until the time limit; negative after the limit."""
        return self._end - monotonic()

    def allows(self, seconds: float) -> bool:
        """Return whether something that takes as long as this would end in time."""
        return seconds <= self.left


class _OutOfTimeError(Exception):
    """The exception for a try that would end too late."""


def tried(children: Iterable[Child], suspects: Sequence[Suspect], clock: Clock) -> dict[Child, Outcome]:
    """Return what makes each child fail, the cheapest first. Children of one kind share the findings of one of them."""
    outcomes: dict[Child, Outcome] = {}
    kinds: dict[Again, list[Child]] = {}
    for child in sorted(children, key=lambda each: each.seconds):
        if child.again is not None:
            kinds.setdefault(child.again, []).append(child)
    known: list[tuple[Suspect, ...]] = []
    for again, members in kinds.items():
        trial = _Trial(again, suspects, clock)
        try:
            for child, outcome in trial.outcomes(members, known):
                outcomes[child] = outcome
                known += [group for group in outcome.culprits if group not in known]
        except _OutOfTimeError:
            lack = f"whether another environment helps was not tried: it would take more than {clock.seconds:.0f} s"
            outcomes.update({child: Outcome(lack=lack) for child in members if child not in outcomes})
    return outcomes


class _Trial:
    """The repeated runs of children of one kind."""

    def __init__(self, again: Again, suspects: Sequence[Suspect], clock: Clock) -> None:
        self._again = again
        self._suspects = suspects
        self._clock = clock

    def outcomes(
        self, children: Sequence[Child], known: Sequence[tuple[Suspect, ...]]
    ) -> Iterator[tuple[Child, Outcome]]:
        waiting = list(children)
        for group in known:
            waiting, helped = self._without(waiting, group)
            yield from ((child, Outcome((group,))) for child in helped)
        failing, waiting = self._without(waiting, self._suspects)
        yield from ((child, Outcome()) for child in failing)
        while waiting:
            first, *waiting = waiting
            groups = self._put_back(first)
            outcome = Outcome(groups, is_unsteady=not groups)
            yield first, outcome
            if groups and waiting:
                waiting, helped = self._without(waiting, [each for group in groups for each in group])
                yield from ((child, outcome) for child in helped)

    def _without(self, children: list[Child], gone: Sequence[Suspect]) -> tuple[list[Child], list[Child]]:
        """Return the children that fail without these suspects, and those that work without them."""
        works = self._run(children, gone) if children else []
        pairs = list(zip(children, works, strict=True))
        return [child for child, does in pairs if not does], [child for child, does in pairs if does]

    def _put_back(self, child: Child) -> tuple[tuple[Suspect, ...], ...]:
        """Return each suspect that alone makes a child fail that works without all of them.

        If there is none, the result is the fewest suspects that make it fail together.
        """
        alone = [each for each in self._suspects if self._fails_with(child, [each])]
        if alone:
            return tuple((each,) for each in alone)
        if not self._fails_with(child, self._suspects):
            return ()
        together = list(self._suspects)
        for each in self._suspects:
            fewer = [other for other in together if other != each]
            if self._fails_with(child, fewer):
                together = fewer
        return (tuple(together),)

    def _fails_with(self, child: Child, present: Sequence[Suspect]) -> bool:
        return not self._run([child], [each for each in self._suspects if each not in present])[0]

    def _run(self, children: Sequence[Child], gone: Sequence[Suspect]) -> Sequence[bool]:
        if not self._clock.allows(sum(child.seconds for child in children)):
            raise _OutOfTimeError
        surroundings = Surroundings(gone)
        with surroundings.limits():
            works = self._again([child.name for child in children], surroundings, self._clock.left)
        if not self._clock.allows(0):  # a child that the clock has stopped has not failed
            raise _OutOfTimeError
        return works
