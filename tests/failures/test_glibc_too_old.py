"""The SDK was built on a newer system than this one."""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sample_report import install, run_test
from sample_site import Site, compile_library


def test_both_versions_are_named(linked_site: Site, attempt: Callable[..., Any], tmp_path: Path) -> None:
    """A library that is linked with a C library of the future."""
    versions = tmp_path / "versions"
    versions.write_text("GLIBC_2.99 { global: from_the_future; };")
    libc = compile_library(
        tmp_path / "libc.so.6",
        "libc.so.6",
        "int from_the_future(void) { return 0; }",
        flags=(f"-Wl,--version-script={versions}",),
    )
    source = "int from_the_future(void); int use(void) { return from_the_future(); }"
    smi = linked_site.library("librocm_smi64.so.1", source, (libc,))
    linked_site.library("libamdhip64.so.7", needed=(smi,))
    install(linked_site)
    present = platform.libc_ver()[1]
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-005")
    assert f"librocm_smi64.so.1 needs glibc 2.99: this system has glibc {present}" in outcome.message
    said = run_test(linked_site.path, "--only", "libraries")
    (found,) = said.problems
    assert (found["code"], found["cause"]) == ("E-LIB-005", f"this system has glibc {present}")
    assert set(found["breaks"]) == {"amdhip64", "rocm_smi64"}
