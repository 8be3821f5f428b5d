"""An SDK was built for a later kind of processor than this machine has: its code would end the process by SIGILL."""

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, run_test
from sample_site import Site

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have no levels")

# GNU_PROPERTY_X86_ISA_1_NEEDED, 4 bytes: the level x86-64-v2.
PROPERTY = bytes.fromhex("028000c0 04000000 02000000")
LATER = bytes.fromhex("028000c0 04000000 10000000")


@pytest.fixture
def library(linked_site: Site) -> Path:
    path = linked_site.library("libamdhip64.so.7", "int value;", flags=("-Wl,-z,x86-64-v2",))
    install(linked_site)
    assert path.read_bytes().count(PROPERTY) == 1
    return path


def test_its_level_is_named(linked_site: Site, attempt: Callable[..., Any], library: Path) -> None:
    library.write_bytes(library.read_bytes().replace(PROPERTY, LATER))
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("BadLibraryError", "E-LIB-022")
    said = "needs a processor of the level x86-64-v5 or later, this one has x86-64"
    assert f"{library}: {said}" in outcome.message
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-022")
    assert found["title"] == "libamdhip64.so.7 is for a newer processor"


@pytest.mark.usefixtures("library")
def test_a_level_that_is_there(linked_site: Site, attempt: Callable[..., Any]) -> None:
    assert attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])").code == ""
    assert run_test(linked_site.path, "--only", "libraries").codes == set()
