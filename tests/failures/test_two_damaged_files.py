"""Two files have other contents, and what needs both crashes: which of them is behind that cannot be told."""

import pytest
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site
from situations import flip

_CRASH = "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }"
_DATA = "char data[9] = {1};"


@pytest.fixture(name="site")
def site_of_two(linked_site: Site) -> Site:
    """HIP and rocBLAS have a byte each that RECORD does not know; MIOpen needs both, and crashes."""
    hip = linked_site.library("libamdhip64.so.7", source=_DATA)
    blas = linked_site.library("librocblas.so.5", package=LIBRARIES, source=_DATA)
    linked_site.library("libMIOpen.so.1", package=LIBRARIES, needed=(hip, blas), source=_CRASH)
    return linked_site


def _breaks(site: Site) -> list[str]:
    """What the one problem of both files breaks."""
    install(site)
    for path in site.path.glob("*/lib/lib[ar]*.so.*"):
        flip(path)
    found = run_test(site.path, "--only", "files,libraries").only("E-FILE-003")
    assert "librocblas.so.5" in found["cause"]
    return [each for each in found["breaks"] if not each.startswith("check ")]


def test_it_is_one_of_them(site: Site) -> None:
    assert _breaks(site) == ["MIOpen (by one of: libamdhip64.so.7, librocblas.so.5)"]


def test_the_one_that_explains_more(site: Site) -> None:
    """What needs the first alone crashes, too."""
    hip = site.path / CORE / "lib/libamdhip64.so.7"
    site.library("libhipblas.so.3", package=LIBRARIES, needed=(hip,), source=_CRASH)
    assert sorted(_breaks(site)) == ["MIOpen", "hipblas"]
