"""`pip install rocm` without its extra: the libraries package is not installed."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from sample_report import install, run_test
from sample_site import LIBRARIES, Site


@pytest.fixture
def core_only(linked_site: Site) -> Site:
    hip = linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    blas = linked_site.library("librocblas.so.5", needed=(hip,), package=LIBRARIES)
    linked_site.library("librocm_smi64.so.1", needed=(blas,))
    shutil.rmtree(linked_site.path / LIBRARIES)
    install(linked_site)
    shutil.rmtree(next(linked_site.path.glob("rocm_sdk_libraries-*.dist-info")))
    return linked_site


def test_the_package_is_named(core_only: Site, attempt: Callable[..., Any]) -> None:
    outcome = attempt(core_only, "initialize_process(preload_shortnames=['hipblas', 'amdhip64'])")
    assert (outcome.error, outcome.code) == ("PackageNotInstalledError", "E-PKG-014")
    assert "rocm[libraries]" in outcome.fix


def test_what_needs_one_of_its_libraries(core_only: Site, attempt: Callable[..., Any]) -> None:
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
