"""The empty packages that the public index has under the names of the SDK."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_devel import DevelSite, core_files
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import Site

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
def test_it_is_named(tmp_path: Path, name: str, version: str, file: str) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install(name, {file: b""}, version)
    said = run_test(site.path, "--only", "packages")
    assert said.codes == {"E-PKG-017"}
    assert said.only("E-PKG-017")["title"] == f"{name} {version} is an empty placeholder"
    assert AMD_INDEX in said.only("E-PKG-017")["fix"]


def test_two_are_named(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", {"rocm_sdk_core/__init__.py": b""}, "0.1.0")
    site.install("rocm-sdk-devel", {"dummy_pkg/_init_.py": b""}, "0.0.2")
    title = run_test(site.path, "--only", "packages").only("E-PKG-017")["title"]
    assert title == "rocm-sdk-core 0.1.0 is an empty placeholder; so is rocm-sdk-devel 0.0.2"


def test_a_package_with_files_is_none(tmp_path: Path) -> None:
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
