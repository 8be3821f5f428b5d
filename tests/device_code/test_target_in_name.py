"""Targets in the names of loose files, as Python tells them."""

import pytest

from rocm_sdk import _native


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+"),
        ("TensileLibrary_Type_HH_gfx942-strict.co", "gfx942"),
        ("TensileLibrary_lazy_gfx1100.dat", "gfx1100"),
        ("libMIOpenCKx_gfx942.so.1", "gfx942"),
        ("blas_lib_gfx1030.kpack", "gfx1030"),
        ("gfx942130.db.txt", "gfx942"),
        ("gfx1030_36.fdb.txt", "gfx1030"),
        ("amd-gfx942", "gfx942"),
        ("gfx942", "gfx942"),
        ("amd-gfx11xx", None),
        ("gfx12ab.co", None),
        ("librocblas.so.4", None),
        ("", None),
    ],
)
def test_the_target_in_a_name(name: str, target: str | None) -> None:
    assert _native.target_in_name(name) == target


def test_what_is_no_name() -> None:
    with pytest.raises(TypeError):
        _native.target_in_name(b"gfx942")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null character"):
        _native.target_in_name("gfx942\0")
