"""Libraries with GPU code that are loaded while the GPU is in use."""

from pathlib import Path

import pytest
from sample_device_code import bundle, library, objects
from sample_site import CORE, Site

SLOW = """
.section .init_array,"aw"
.quad pause
.text
pause: call wait_a_moment@PLT
ret
"""
WAIT = "#include <unistd.h>\nvoid wait_a_moment(void) { usleep(%d); }"
LOAD = """
import os, warnings, rocm_sdk
device = os.open(os.environ["ROCM_SDK_ROOTFS"] + "/dev/kfd", os.O_RDONLY) if {is_open} else None
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    rocm_sdk.preload_libraries("rccl")
print(*[each.message for each in told], sep="\\n")
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "site", rpath="rpath")
    site.write("root/dev/kfd")
    return site


def load(site: Site, *, is_open: bool = True, micro: int = 700_000, has_code: bool = True) -> str:
    waits = site.library("libwaits.so.1", WAIT % micro)
    path = site.path / "_rocm_sdk_libraries/lib/librccl.so.1"
    path.parent.mkdir(parents=True, exist_ok=True)
    bundles = [bundle(objects("gfx942", "gfx90a", "gfx1030", "gfx1100"))] if has_code else []
    library(path, bundles, f"-Wl,-rpath,{site.path / CORE / 'lib'}", waits, more=SLOW)
    return site.output(LOAD.format(is_open=is_open), ROCM_SDK_ROOTFS=str(site.path / "root"))


def test_it_is_told(site: Site) -> None:
    told = load(site)
    assert told.startswith("librccl.so.1 took 0.7 s to load: the process has the GPU open (")
    assert "gfx90a, gfx942, gfx1030 and 1 more; load it before the first call of HIP" in told


def test_nothing_is_told_otherwise(site: Site) -> None:
    assert load(site, is_open=False) == ""
    assert load(site, micro=1000) == ""
    assert load(site, has_code=False) == ""
