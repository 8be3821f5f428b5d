"""The way in which a cause is established: the tries, their order, and the things that are looked at."""

import os
import time
from collections.abc import Callable, Sequence

import pytest
from sample_site import LIBRARIES, Site

from rocm_sdk.doctor.causes.comparing import Files
from rocm_sdk.doctor.causes.trying import Clock, Outcome, tried
from rocm_sdk.doctor.surroundings import Child, Surroundings, Suspect
from rocm_sdk.installed.view import Installed

A, B, C = (Suspect("variable", name, "1") for name in "ABC")


class Tries:
    """Children of one kind: each fails by what is `present` as `fails` says."""

    def __init__(self, fails: Callable[[set[Suspect]], bool]) -> None:
        self.fails = fails
        self.count = 0

    def again(self, names: Sequence[str], surroundings: Surroundings, _seconds: float) -> list[bool]:
        self.count += 1
        return [not self.fails({A, B, C} - set(surroundings.without))] * len(names)

    def outcome(self, seconds: float = 0.0) -> Outcome:
        child = Child("x", seconds, self.again)
        return tried([child], [A, B, C], Clock())[child]


@pytest.mark.parametrize(
    ("fails", "culprits", "tries"),
    [
        (lambda _: True, (), 1),
        (lambda present: B in present, ((B,),), 4),
        (lambda present: bool(present & {A, C}), ((A,), (C,)), 4),
        (lambda present: {A, C} <= present, ((A, C),), 8),
    ],
    ids=["by none", "by one", "by each of two", "by two together"],
)
def test_what_a_child_fails_by(fails: Callable[[set[Suspect]], bool], culprits: object, tries: int) -> None:
    what = Tries(fails)
    assert what.outcome().culprits == culprits
    assert what.count == tries


def test_a_child_that_works_when_it_runs_again() -> None:
    assert Tries(lambda _: False).outcome() == Outcome(is_unsteady=True)


def test_what_would_take_too_long_is_not_begun() -> None:
    what = Tries(lambda present: B in present)
    outcome = what.outcome(seconds=5.0)
    assert (outcome.culprits, what.count) == ((), 0)
    assert outcome.lack == "whether another environment helps was not tried: it would take more than 3 s"


def test_what_the_clock_ends_has_not_failed() -> None:
    """A try that is ended at the limit shows nothing of what it was tried with."""

    def again(names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        if C not in surroundings.without:  # the last; it takes longer than is left
            time.sleep(seconds + 0.01)
            return [False] * len(names)
        return [True] * len(names)

    child = Child("x", 0.0, again)
    outcome = tried([child], [A, B, C], Clock(0.2))[child]
    assert outcome.culprits == ()
    assert outcome.lack is not None


def test_children_share_what_was_found() -> None:
    what = Tries(lambda present: B in present)
    children = [Child(name, 0.0, what.again) for name in "xyz"]
    assert {outcome.culprits for outcome in tried(children, [A, B, C], Clock()).values()} == {((B,),)}
    assert what.count == 5  # all without any, one with each, the others without B


def test_how_much_is_compared(sdk: Site) -> None:
    """A GiB in all, the smallest files first; with --deep each file."""
    one, other = (sdk.path / LIBRARIES / f"lib/{name}" for name in ("librocsparse.so.1", "libhipsparse.so.1"))
    os.truncate(one, 1 << 29)
    for size, is_deep, expected in (
        (1 << 29, False, [one, other]),
        ((1 << 29) + 1, False, [one]),
        ((1 << 29) + 1, True, [one, other]),
    ):
        os.truncate(other, size)
        faults, is_complete = Files(Installed(str(sdk.path)), deep=is_deep).compare([str(other), str(one)])
        assert sorted(faults) == sorted(map(str, expected))
        assert is_complete == (len(expected) == 2)


def test_what_record_does_not_say_is_not_compared(sdk: Site) -> None:
    """Then nobody knows whether a file is as it was installed."""
    one, other = (f"{LIBRARIES}/lib/{name}" for name in ("librocsparse.so.1", "libhipsparse.so.1"))
    stranger = sdk.path / LIBRARIES / "lib/libstranger.so"
    stranger.touch()
    paths = [str(sdk.path / one), str(sdk.path / other)]
    assert Files(Installed(str(sdk.path)), deep=False).compare(paths) == ({}, True)
    assert Files(Installed(str(sdk.path)), deep=False).compare([*paths, str(stranger)]) == ({}, False)
    assert Files(Installed(str(sdk.path)), deep=False).compare([str(stranger)]) == ({}, False)
    (record,) = (each for each in sdk.path.glob("*.dist-info/RECORD") if one in each.read_text())
    lines = [f"{one},," if line.startswith(f"{one},") else line for line in record.read_text().splitlines()]
    record.write_text("\n".join(lines))
    assert Files(Installed(str(sdk.path)), deep=False).compare(paths) == ({}, False)
