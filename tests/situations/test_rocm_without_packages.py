"""An SDK that no installer of Python made: a ROCm that ROCM_SDK_FALLBACK names, and a copy without dist-info."""

import platform
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, run_test
from sample_site import Site, compile_library


def make_rocm(prefix: Path, library_directory: str = "lib") -> Path:
    directory = prefix / library_directory
    directory.mkdir(parents=True)
    hsa = compile_library(directory / "libhsakmt.so.1", "libhsakmt.so.1")
    compile_library(directory / "libamdhip64.so.6", "libamdhip64.so.6", "int hipGetDeviceCount;", (hsa,))
    (prefix / ".info").mkdir()
    (prefix / ".info/version").write_text("6.2.0-66\n")
    return directory


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    (tmp_path / "site-packages").mkdir()
    return tmp_path / "site-packages"


@pytest.mark.parametrize("library_directory", ["lib", "lib64", f"lib/{platform.machine()}-linux-gnu"])
def test_a_prefix_is_tested(empty: Path, tmp_path: Path, library_directory: str) -> None:
    make_rocm(tmp_path / "rocm", library_directory)
    place = f"prefix:{tmp_path}/rocm"
    said = run_test(empty, "--skip", "opencl,gpus", ROCM_SDK_FALLBACK=place)
    assert not {code for code in said.codes if code.startswith("E-")}, said.problems
    assert said.document["version"] == "6.2.0"
    assert said.only("N-PKG-018")["path"] == f"{tmp_path}/rocm"
    assert said.subject("libraries")["count"] == 1
    assert said.subject("api")["count"] == 1


def test_what_is_wrong_with_a_prefix_is_not_mended_by_pip(empty: Path, tmp_path: Path) -> None:
    directory = make_rocm(tmp_path / "rocm")
    (directory / "libhsakmt.so.1").unlink()
    said = run_test(empty, "--only", "packages,libraries,api", ROCM_SDK_FALLBACK=f"prefix:{tmp_path}/rocm")
    found = said.only("E-LIB-023")
    assert found["title"] == "libamdhip64.so.6 needs libhsakmt.so.1, which is not there"
    assert found["fix"] == f"Install the ROCm in {tmp_path}/rocm again the way it was installed"
    (directory / "libamdhip64.so.6").write_text("damaged")
    said = run_test(empty, "--only", "packages,libraries,api", ROCM_SDK_FALLBACK=f"prefix:{tmp_path}/rocm")
    assert said.only("E-LIB-006")["fix"] == found["fix"]


def test_places_that_have_none_are_named(empty: Path, tmp_path: Path, attempt: Callable[..., Any]) -> None:
    place = f"prefix:{tmp_path}/none,conda"
    said = run_test(empty, "--only", "packages", ROCM_SDK_FALLBACK=place)
    found = said.only("E-PKG-001")
    assert found["cause"].endswith(f"; ROCM_SDK_FALLBACK={place}: no such place has a ROCm")
    assert found["fix"].startswith("Correct ROCM_SDK_FALLBACK, or install an SDK: ")
    site = Site(tmp_path / "other")
    shutil.rmtree(site.path)
    site.path.mkdir()
    outcome = attempt(site, "preload_libraries('amdhip64')", ROCM_SDK_FALLBACK=place)
    assert f"ROCM_SDK_FALLBACK={place}: no such place has a ROCm" in outcome.message
    assert outcome.fix.startswith("Correct ROCM_SDK_FALLBACK, or install an SDK: ")


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_no_fix_installs_into_a_copy(linked_site: Site, damage: str) -> None:
    """A directory that no installer of Python has filled is nothing that pip may add to."""
    needed = linked_site.library("libhsakmt.so.1")
    hip = linked_site.library("libamdhip64.so.7", needed=(needed,))
    install(linked_site)
    for info in linked_site.path.glob("*.dist-info"):
        shutil.rmtree(info)
    copy = linked_site.path.parent / "copy"
    linked_site.path.rename(copy)
    if damage == "missing":
        (copy / needed.relative_to(linked_site.path)).unlink()
    else:
        (copy / hip.relative_to(linked_site.path)).write_text("damaged")
    said = run_test(copy, "--only", "packages,libraries,api")
    errors = [each for each in said.problems if each["severity"] == "error"]
    assert {each["code"] for each in errors} == {"E-LIB-023" if damage == "missing" else "E-LIB-006"}
    for each in errors:
        assert not re.search(r"\bpip\b|apt-get", each["fix"]), each["fix"]
        assert str(copy) in each["fix"]
