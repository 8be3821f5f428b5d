"""The one function behind every "did you mean"."""

import pytest

from rocm_sdk import _native

NAMES = ("targets", "test", "tree", "version", "naïve")


def test_nearest_first() -> None:
    assert _native.nearest_names("tes", NAMES) == ("test", "tree")
    assert _native.nearest_names("target", NAMES) == ("targets",)
    assert _native.nearest_names("tret", NAMES, limit=1) == _native.nearest_names("tret", NAMES, 1) == ("tree",)
    assert _native.nearest_names("naive", NAMES) == ("naïve",)
    assert _native.nearest_names("x", NAMES) == _native.nearest_names("test", ()) == ()
    assert _native.nearest_names("test", ("test",) * 100, limit=100) == ("test",) * 16


def test_what_is_no_name() -> None:
    with pytest.raises(TypeError):
        _native.nearest_names("x", ["a", "list"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _native.nearest_names("x", (b"bytes",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null character"):
        _native.nearest_names("a\0b", NAMES)
    with pytest.raises(UnicodeEncodeError):
        _native.nearest_names("x", ("\ud800",))
