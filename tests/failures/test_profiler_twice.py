"""rocprofiler-sdk was brought by an external profiler before the SDK's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sample_report import install, run_test
from sample_site import CORE, Site, compile_library


def test_both_are_named(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], attempt: Callable[..., Any]
) -> None:
    linked_site.library("librocprofiler-sdk.so.1")
    install(linked_site)
    other = tmp_path / "profiler"
    other.mkdir()
    theirs = compile_library(other / "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.1")
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['rocprofiler-sdk'])", LD_PRELOAD=str(theirs))
    assert outcome.error == ""
    assert str(theirs) in outcome.message
    own = linked_site.path / CORE / "lib/librocprofiler-sdk.so.1"
    code = f"import ctypes; ctypes.CDLL({str(own)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code, LD_PRELOAD=str(theirs))))
    found = said.only("E-PROC-001")
    assert f"{theirs} (LD_PRELOAD)" in found["cause"]
    assert "start the program without LD_PRELOAD" in found["fix"]
