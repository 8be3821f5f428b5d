"""A platform directory was moved: RPATHs do not lead to what they need."""

import pytest
from sample_report import install, run_test
from sample_site import CORE, Site, compile_library


def test_the_rpath_is_named(linked_site: Site) -> None:
    hip = linked_site.library("libamdhip64.so.7")
    moved = linked_site.path / CORE / "other/libhiprtc.so.7"
    moved.parent.mkdir()
    compile_library(moved, "libhiprtc.so.7", needed=(hip,), flags=("-Wl,-rpath,$ORIGIN/nowhere",))
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-004")
    assert found["title"] == "libhiprtc.so.7 does not find libamdhip64.so.7"
    assert str(hip) in found["cause"]


@pytest.mark.parametrize(
    ("runpath", "codes"), [("/usr/lib/nowhere", ["W-LIB-011", "N-LIB-019"]), ("$ORIGIN", ["N-LIB-019"])]
)
def test_a_library_that_this_system_lacks_and_the_sdk_has(site: Site, runpath: str, codes: list[str]) -> None:
    """The loader finds what a RUNPATH does not, as where there is none: Debian's libhsa-runtime64 needs libelf so."""
    sysdeps = site.path / CORE / "lib/rocm_sysdeps/lib"
    sysdeps.mkdir(parents=True)
    elf = compile_library(sysdeps / "libelf-of-the-sdk.so.1", "libelf-of-the-sdk.so.1")
    site.library("libhsa-runtime64.so.1", needed=(elf,), flags=(f"-Wl,--enable-new-dtags,-rpath,{runpath}",))
    install(site)
    report = run_test(site.path, "--only", "libraries")
    assert [found["code"] for found in report.problems] == codes
