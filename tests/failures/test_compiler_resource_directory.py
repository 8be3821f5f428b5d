"""clang looks for its files in lib/clang/18.0.0, and they are in lib/clang/18."""

from pathlib import Path

from sample_devel import DevelSite, core_files, member
from sample_report import run_test

TREE = "_rocm_sdk_devel"


def extracted(directory: Path, resource: str) -> DevelSite:
    """A tree with a compiler that says where its files are; they are in lib/clang/18."""
    site = DevelSite(directory)
    site.install("rocm-sdk-core", core_files())
    clang = f"#!/bin/sh\necho {site.tree}/lib/llvm/lib/clang/{resource}\n".encode()
    site.install_devel(
        [
            member(f"{TREE}/__init__.py"),
            member(f"{TREE}/lib/llvm/bin/clang", clang, mode=0o755),
            member(f"{TREE}/lib/llvm/lib/clang/18/include/stddef.h", b"\n"),
        ]
    )
    site.command("init")
    return site


def test_both_spellings_are_named(tmp_path: Path) -> None:
    site = extracted(tmp_path / "site-packages", "18.0.0")
    found = run_test(site.path, "--only", "devel").only("E-DEVEL-004")
    assert f"{site.tree}/lib/llvm/lib/clang/18.0.0, which is not there; there is 18" in found["cause"]
    assert " -m pip install " in found["fix"]


def test_which_spelling_it_is(tmp_path: Path) -> None:
    site = extracted(tmp_path / "site-packages", "18")
    said = run_test(site.path, "--only", "devel")
    assert (said.status, said.codes) == (0, {"N-DEVEL-006"})
    assert said.only("N-DEVEL-006")["title"] == "clang's resource directory is named by the major version"
