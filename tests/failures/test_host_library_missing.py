"""A minimal container lacks a library that the distribution brings: libnuma, libatomic ..."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, run_test
from sample_site import Site, compile_library

CANDIDATES = {
    "libnuma.so.1": "libnuma1",
    "libibverbs.so.1": "libibverbs1",
    "libva.so.2": "libva2",
    "libdw.so.1": "libdw1",
}


def is_loadable(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


@pytest.fixture
def missing() -> str:
    """One that is not on this system."""
    name = next((name for name in CANDIDATES if not is_loadable(name)), None)
    if name is not None:
        return name
    pytest.skip(f"all of {', '.join(CANDIDATES)} are installed here")


def test_it_is_named_with_its_package(
    linked_site: Site, attempt: Callable[..., Any], tmp_path: Path, missing: str
) -> None:
    host = compile_library(tmp_path / missing, missing)
    smi = linked_site.library("librocm_smi64.so.1", needed=(host,))
    linked_site.library("libamdhip64.so.7", needed=(smi,))
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-002")
    assert f"librocm_smi64.so.1 needs {missing}, which is in neither the SDK nor the system" in outcome.message
    assert outcome.fix == f"apt-get install {CANDIDATES[missing]}"
    said = run_test(linked_site.path, "--only", "libraries")
    (found,) = said.problems
    assert found["code"] == "E-LIB-002"
    assert found["title"] == f"librocm_smi64.so.1 needs {missing}, which is in neither the SDK nor the system"
    assert set(found["breaks"]) == {"amdhip64", "rocm_smi64"}
    assert found["fix"] == outcome.fix


def test_one_that_no_table_knows(linked_site: Site, tmp_path: Path) -> None:
    host = compile_library(tmp_path / "libnobody_knows.so.3", "libnobody_knows.so.3")
    linked_site.library("libamdhip64.so.7", needed=(host,))
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-002")
    assert "libnobody_knows.so.3" in found["fix"]
