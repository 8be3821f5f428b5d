"""The one function behind every "did you mean"."""

import pytest

from rocm_sdk import _native

NAMES = ("targets", "test", "tree", "version", "naïve")
LIBRARIES = ("hipblas", "hipblaslt", "hipsparse", "amdhip64", "rccl", "abc")


def test_nearest_first() -> None:
    assert _native.nearest_names("tes", NAMES) == ("test",)
    assert _native.nearest_names("target", NAMES) == ("targets",)
    assert _native.nearest_names("tret", NAMES, limit=1) == _native.nearest_names("tret", NAMES, 1) == ("tree",)
    assert _native.nearest_names("naive", NAMES) == ("naïve",)
    assert _native.nearest_names("x", NAMES) == _native.nearest_names("test", ()) == ()
    assert _native.nearest_names("test", ("test",) * 100, limit=100) == ("test",) * 16


@pytest.mark.parametrize(
    ("name", "limit", "nearest"),
    [
        ("hipblas", 1, "hipblas"),
        ("hipblasl", 3, "hipblas hipblaslt"),  # as near as each other, in the order of the list
        ("hipblasl", 1, "hipblas"),
        ("hipblasl", 0, ""),
        ("hipblasl", 1000, "hipblas hipblaslt"),
        ("HIPBLASLTX", 1, "hipblaslt"),
        ("libamdhip64.so.7", 1, "amdhip64"),
        ("amdhip46", 1, "amdhip64"),
        ("hpiblsa", 1, "hipblas"),  # two swaps are two edits, of seven letters
        ("rclc", 1, "rccl"),  # a swap is one edit, of four letters
        ("acb", 1, "abc"),
        ("clrc", 1, ""),  # two swaps
        ("HIPSAPRSE", 1, "hipsparse"),
        ("cublas64", 3, ""),
        ("", 3, ""),
        ("xyzabc", 3, ""),  # too short to be looked for within
        ("amdhip64:xnack+", 3, ""),
        ("h" * 299, 3, ""),
        ("rnpe", 3, ""),  # half of the letters of another name
        ("amdhip32", 3, "amdhip64"),
    ],
)
def test_limits_and_what_is_too_far(name: str, limit: int, nearest: str) -> None:
    assert _native.nearest_names(name, LIBRARIES, limit) == tuple(nearest.split())


def test_a_number_is_another_thing() -> None:
    """gfx9999 is not gfx909, and nope is not code."""
    targets = ("gfx909", "gfx90a", "gfx942", "gfx1100", "gfx94X-dcgpu")
    assert _native.nearest_names("gfx9999", targets) == ()
    assert _native.nearest_names("gfx110", targets) == ("gfx1100",)
    assert _native.nearest_names("gfx94x-dgpu", targets) == ("gfx94X-dcgpu",)
    assert _native.nearest_names("nope", ("code", "store", "env")) == ()


def test_what_is_no_name() -> None:
    with pytest.raises(TypeError):
        _native.nearest_names("x", ["a", "list"])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _native.nearest_names("x", (b"bytes",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null character"):
        _native.nearest_names("a\0b", NAMES)
    with pytest.raises(UnicodeEncodeError):
        _native.nearest_names("x", ("\ud800",))
