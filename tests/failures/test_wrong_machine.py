"""Packages were copied from a machine with another processor."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, run_test
from sample_site import Site

S390, MACHINE_OFFSET = 22, 18  # e_machine


@pytest.fixture
def foreign(linked_site: Site) -> Path:
    path = linked_site.library("libamdhip64.so.7")
    data = bytearray(path.read_bytes())
    data[MACHINE_OFFSET] = S390
    path.write_bytes(data)
    install(linked_site)
    return path


def test_the_machine_is_named(linked_site: Site, attempt: Callable[..., Any], foreign: Path) -> None:
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("BadLibraryError", "E-LIB-012")
    assert str(foreign) in outcome.message
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-012")
    assert found["title"] == "libamdhip64.so.7 is for another machine"
    assert "rocm-sdk-core==7.10.0" in found["fix"]


def test_a_whole_sdk_of_another_machine_may_be_looked_at(linked_site: Site, foreign: Path, tmp_path: Path) -> None:
    said = run_test(tmp_path, "--target", str(linked_site.path))
    assert (said.status, said.codes) == (0, {"N-LIB-021"})
    assert said.subject("files")["count"] > 3
    assert foreign.exists()
