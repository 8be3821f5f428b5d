"""Reports about compilers that were blamed for what is not theirs, and about the first in PATH that hides another."""

from pathlib import Path

import pytest
from sample_devel import DevelSite, core_files, member
from sample_report import run_test

TREE = "_rocm_sdk_devel"
FAILS = "echo 'x.hip:1:1: error: no gfx1030'; exit 1"
NO_LIBRARY = "echo 'clang++-14: cannot load libLLVM-14.so.1' >&2; exit 127"
NO_BITCODE = "echo 'clang: error: cannot find ROCm device library for gfx1030; provide its path' >&2; exit 1"
NO_HEADER = "echo \"x.hip:2:10: fatal error: 'vector' file not found\" >&2; exit 1"
OWN_REASON = "echo \"clang: error: unsupported option '--offload-host-only'\" >&2; exit 1"


def program(answer: str) -> bytes:
    return f"#!/bin/sh\n{answer}\n".encode()


def put(path: Path, answer: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(program(answer))
    path.chmod(0o755)


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    """Return a tree with HIP's header and a device library."""
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    names = ("__init__.py", "include/hip/hip_runtime.h", "amdgcn/bitcode/ocml.bc")
    site.install_devel([member(f"{TREE}/{name}", b"\n") for name in names])
    site.command("init")
    return site


# clang++, clang++-19 -> what is blamed; None: nothing.
@pytest.mark.parametrize(
    ("first", "second", "blamed"),
    [
        (FAILS, "exit 0", None),
        (NO_LIBRARY, "exit 0", None),
        (NO_LIBRARY, FAILS, "clang++-19"),
        (FAILS, FAILS, "clang++"),
        (NO_BITCODE, "exit 1", None),
    ],
    ids=["an old one", "one that does not load", "the one that starts", "the first of two", "bitcode of the SDK"],
)
def test_clangs_of_the_system(site: DevelSite, tmp_path: Path, first: str, second: str, blamed: str | None) -> None:
    put(tmp_path / "bin/clang++", first)
    put(tmp_path / "bin/clang++-19", second)
    said = run_test(site.path, "--only", "devel", PATH=f"{tmp_path}/bin", ROCM_SDK_ROOTFS=str(tmp_path))
    notes = [each["path"] for each in said.problems if each["code"] == "N-DEVEL-012"]
    assert notes == ([f"{tmp_path}/bin/{blamed}"] if blamed else [])
    is_said = any("lacks device libraries" in each for each in said.subject("devel")["not_tried"])
    assert is_said == (first == NO_BITCODE)


@pytest.mark.parametrize(("answer", "is_missing"), [(NO_HEADER, True), (OWN_REASON, False)])
def test_hipcc_that_fails(tmp_path: Path, answer: str, is_missing: bool) -> None:
    """A compiler of the system is to be installed for its headers alone."""
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    tools = {"bin/hipcc": program(answer), "lib/llvm/bin/clang": program("exit 0")}
    members = [member(f"{TREE}/{name}", data, mode=0o755) for name, data in tools.items()]
    site.install_devel([member(f"{TREE}/__init__.py"), *members])
    site.command("init")
    found = run_test(site.path, "--only", "devel").only("E-DEVEL-005")
    assert ("vector" in found["fix"]) == is_missing
    assert ("g++" in found["fix"] or "C++ compiler of the system" in found["fix"]) == is_missing
    assert ("rocm-sdk test --deep" in found["fix"]) == (not is_missing)
