"""Packages of an SDK: of other versions, in other places, empty, in part, or without the metadata of an installer."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_closure import closure
from sample_devel import DevelSite, core_files
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import LIBRARIES, Site

# `pip install rocm` without its extra: the libraries package is not installed.


@pytest.fixture
def core_only(linked_site: Site) -> Site:
    hip = linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    blas = linked_site.library("librocblas.so.5", needed=(hip,), package=LIBRARIES)
    linked_site.library("librocm_smi64.so.1", needed=(blas,))
    shutil.rmtree(linked_site.path / LIBRARIES)
    install(linked_site)
    shutil.rmtree(next(linked_site.path.glob("rocm_sdk_libraries-*.dist-info")))
    return linked_site


def test_the_missing_libraries_package_is_named(core_only: Site, attempt: Callable[..., Any]) -> None:
    outcome = attempt(core_only, "initialize_process(preload_shortnames=['hipblas', 'amdhip64'])")
    assert (outcome.error, outcome.code) == ("PackageNotInstalledError", "E-PKG-014")
    assert "rocm[libraries]" in outcome.fix


def test_what_needs_a_library_of_a_missing_package(core_only: Site, attempt: Callable[..., Any]) -> None:
    outcome = attempt(core_only, "initialize_process(preload_shortnames=['rocm_smi64'])")
    assert outcome.code == "E-LIB-003"
    assert "'rocm[libraries]==7.10.0'" in outcome.fix
    said = run_test(core_only.path, "--only", "libraries,api")
    found = said.only("E-LIB-003")
    assert found["title"] == "librocblas.so.5 is missing: its package is not installed"
    assert found["cause"] == "librocm_smi64.so.1 needs it, and it belongs to rocm[libraries]==7.10.0"
    assert found["fix"] == outcome.fix
    assert found["breaks"] == ["rocm_smi64", "check api: rocm_smi64"]
    assert said.codes == {"E-LIB-003"}


# core and libraries are of different versions, or of different builds.


def test_damaged_facts_hide_no_other_version(linked_site: Site) -> None:
    """The versions come from the metadata, about which the facts of core say nothing."""
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, "7.9.1")
    facts = linked_site.path / "rocm_sdk_core/_dist_info.py"
    facts.write_text(facts.read_text().replace("7.10.0", "7.10.1"))
    assert run_test(linked_site.path, "--only", "packages,files").codes == {"E-FILE-003", "E-PKG-002"}


def test_a_post_release_fits(linked_site: Site) -> None:
    install(linked_site)
    shutil.rmtree(linked_site.path / "rocm_sdk_libraries-7.10.0.dist-info")
    DevelSite(linked_site.path).install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""}, "7.10.0.post2")
    assert run_test(linked_site.path, "--only", "packages").codes == set()


def test_loading_warns(linked_site: Site, attempt: Callable[..., Any]) -> None:
    linked_site.library("librocsparse.so.1", package=LIBRARIES)
    call = "initialize_process(preload_shortnames=['rocsparse'])"
    facts = linked_site.write("rocm_sdk_libraries/_dist_info.py", "__version__ = '7.10.0.post1'\n")
    assert "version" not in attempt(linked_site, call).message
    facts.write_text("__version__ = '7.9.1'\n")
    assert "rocm_sdk_libraries has version 7.9.1, rocm_sdk_core version 7.10.0" in attempt(linked_site, call).message


# The empty packages that the public index has under the names of the SDK.

AMD_INDEX = "--index-url https://stable.repo.amd.com/rocm/whl-next/"


@pytest.mark.parametrize(
    ("name", "version", "file"),
    [
        ("rocm-sdk-core", "0.1.0", "rocm_sdk_core/__init__.py"),
        ("rocm-sdk-libraries-gfx110x-dgpu", "0.0.1.dev0", "dummy_pkg/_init_.py"),
        ("rocm-sdk-devel", "0.0.2", "dummy_pkg/_init_.py"),
        ("rocm", "0.1.0", "dummy_pkg/_init_.py"),
    ],
)
def test_a_placeholder_is_named(tmp_path: Path, name: str, version: str, file: str) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install(name, {file: b""}, version)
    said = run_test(site.path, "--only", "packages")
    assert said.codes == {"E-PKG-017"}
    assert said.only("E-PKG-017")["title"] == f"{name} {version} is an empty placeholder"
    assert AMD_INDEX in said.only("E-PKG-017")["fix"]


def test_two_placeholders_are_named(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", {"rocm_sdk_core/__init__.py": b""}, "0.1.0")
    site.install("rocm-sdk-devel", {"dummy_pkg/_init_.py": b""}, "0.0.2")
    title = run_test(site.path, "--only", "packages").only("E-PKG-017")["title"]
    assert title == "rocm-sdk-core 0.1.0 is an empty placeholder; so is rocm-sdk-devel 0.0.2"


def test_a_package_with_files_is_no_placeholder(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files(), "0.1.0")
    assert "E-PKG-017" not in run_test(site.path, "--only", "packages").codes


def test_without_an_sdk_the_index_is_named(tmp_path: Path, attempt: Callable[..., Any]) -> None:
    """`pip install "rocm[libraries]"` alone would install the placeholders."""
    outcome = attempt(DevelSite(tmp_path / "empty"), "initialize_process(preload_shortnames=['amdhip64'])")
    assert outcome.code == "E-PKG-001"
    assert AMD_INDEX in outcome.fix


def test_a_prefix_without_metadata_is_an_sdk(linked_site: Site) -> None:
    """Nix, Gentoo and Spack write no dist-info; its version is the one that `rocm-sdk version` prints."""
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    for info in linked_site.path.glob("*.dist-info"):
        for path in info.iterdir():
            path.unlink()
        info.rmdir()
    said = run_test(linked_site.path, "--only", "packages,libraries")
    assert (said.document["version"], said.codes) == ("7.10.0", {"N-PKG-018"})
    assert said.subject("libraries")["count"] > 0
    assert json.dumps(said.document["distributions"]) == "{}"


def test_the_fix_has_the_packages_of_the_gpus_here(tmp_path: Path, machine: Machine) -> None:
    for node, target in enumerate(("gfx942", "gfx1100", "gfx942")):
        machine.gpu(node + 1, target)
    site = DevelSite(tmp_path / "empty")
    found = run_test(site.path, "--target", str(site.path), "--only", "packages", ROCM_SDK_ROOTFS=str(machine.root))
    assert found.only("E-PKG-001")["fix"].endswith('"rocm[libraries,device-gfx942,device-gfx1100]"')


# rocm-sdk-build was killed while it made the SDK of an environment smaller, file by file.


def test_an_interrupted_closure_is_named_alone(linked_site: Site) -> None:
    """The files of two states that follow from it are not reported one by one."""
    path = linked_site.library("libhsa-runtime64.so.1")
    install(linked_site)
    path.unlink()
    journal = linked_site.path / ".rocm-sdk-closure"
    journal.mkdir()
    (journal / "journal.json").write_text(json.dumps({"schema": 1, "new": [], "removed": [], "scripts": []}))
    said = run_test(linked_site.path, "--only", "packages,files")
    problem = said.only("E-PKG-022")
    assert problem["path"] == str(journal)
    assert problem["fix"] == "rocm-sdk-build closure --in-place"
    assert "E-FILE-001" not in said.codes
    assert said.status == 1


def test_other_closures_wait_for_the_interrupted_one(linked_site: Site) -> None:
    linked_site.library("libhsa-runtime64.so.1")
    install(linked_site)
    (linked_site.path / ".rocm-sdk-closure").mkdir()
    output = linked_site.path.parent / "out"
    done = closure(linked_site.path, "--library", "hsa-runtime64", "--output", output, check=False)
    assert "making the SDK smaller was interrupted" in done.stderr
    assert "rocm-sdk-build closure --in-place" in done.stderr
    assert not output.exists()
