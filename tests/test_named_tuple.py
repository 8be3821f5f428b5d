"""The light NamedTuple does what typing.NamedTuple does, as far as this package uses it."""

import pickle
import typing

import pytest

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.problems import Problem, problem


class Light(NamedTuple):
    """A row with a default."""

    name: str
    size: int = 7


class Standard(typing.NamedTuple):
    """A row with a default, by the standard library."""

    name: str
    size: int = 7


@pytest.mark.parametrize("row", [Light("a"), Light("a", 7), Light(name="a", size=7), Light("b")._replace(name="a")])
def test_values(row: Light) -> None:
    like = Standard("a")
    assert tuple(row) == like
    assert (row.name, row.size) == ("a", 7)
    assert repr(row) == repr(like).replace("Standard", "Light")
    assert row._asdict() == like._asdict()
    assert Light.__match_args__ == Standard.__match_args__
    assert Light._make(["a", 7]) == row
    assert type(Light._make(row)) is Light
    assert pickle.loads(pickle.dumps(row)) == row
    assert type(pickle.loads(pickle.dumps(row))) is Light


@pytest.mark.parametrize("make", [Light, Standard])
def test_wrong_values(make: typing.Any) -> None:
    for given, named in (((), {}), ((1, 2, 3), {}), ((1,), {"name": 2}), ((1,), {"no": 2})):
        with pytest.raises(TypeError):
            make(*given, **named)
    with pytest.raises(AttributeError):
        make("a").name = "b"


def test_a_problem_keeps_its_kind() -> None:
    found = problem("E-LIB-006", "/a/libx.so")
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy) is Problem
    assert (copy, copy.severity) == (found, "error")
