"""A platform directory was moved: RPATHs do not lead to what they need."""

from __future__ import annotations

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


def test_directories_of_the_machine_where_it_was_built(site: Site) -> None:
    """The loader finds what such a RUNPATH does not, as where there is none: Debian's libhsa-runtime64 is so."""
    sysdeps = site.path / CORE / "lib/rocm_sysdeps/lib"
    sysdeps.mkdir(parents=True)
    elf = compile_library(sysdeps / "libelf-of-the-sdk.so.1", "libelf-of-the-sdk.so.1")
    site.library("libhsa-runtime64.so.1", needed=(elf,), flags=("-Wl,--enable-new-dtags,-rpath,/usr/lib/nowhere",))
    install(site)
    report = run_test(site.path, "--only", "libraries")
    assert [found["code"] for found in report.problems] == ["W-LIB-011", "N-LIB-019"]
