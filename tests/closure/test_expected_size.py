"""The bar of a closure counts what it will write: of a library for many GPUs, the code that stays."""

from pathlib import Path

import pytest
from sample_device_code import bundle, library, objects

from rocm_sdk_build.closure.writing.site import expected_size
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")
SIZE = 200_000


@pytest.mark.parametrize(("gpus", "images"), [((), 4), (("gfx942",), 1), (("gfx942", "gfx1100"), 2), (("gfx1201",), 0)])
def test_a_library_for_four_gpus(tmp_path: Path, gpus: tuple[str, ...], images: int) -> None:
    path = library(tmp_path / "libx.so.1", [bundle(objects(*TARGETS, size=SIZE))])
    expected = expected_size(str(path), path.stat().st_size, NewCode(gpus))
    assert expected == pytest.approx(images * SIZE, abs=60_000)
    if gpus and images:
        made = tmp_path / "made.so"
        rewrite_file(str(path), str(made), NewCode(gpus))
        assert expected == pytest.approx(made.stat().st_size, rel=0.1), "what is written in the end"
