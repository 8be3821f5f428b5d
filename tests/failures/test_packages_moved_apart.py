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
