"""A dependency's tables hold garbage, as after a disk error or a faulty tool: the linker would end the process."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, reinstalls, run_test
from sample_site import Site

SOURCE = """
#include <stdio.h>
int number = 8; int *pointers[40] = {&number};
int hsa_init(void) { return puts("started") + number; }
__attribute__((constructor)) static void start(void) { number = 9; }
"""
GARBAGE = bytes(range(1, 250)) * 100


def section(path: Path, name: str) -> tuple[int, int]:
    """Its place in the file and its size."""
    listed = subprocess.run(["readelf", "-SW", str(path)], capture_output=True, text=True, check=True).stdout
    match = re.search(rf" {re.escape(name)} +\S+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", listed)
    assert match is not None, listed
    return int(match[1], 16), int(match[2], 16)


@pytest.fixture
def pair(linked_site: Site) -> tuple[Path, Path]:
    below = linked_site.library("libhsa-runtime64.so.1", SOURCE)
    above = linked_site.library(
        "libamdhip64.so.7", "int hsa_init(void); int start(void) { return hsa_init(); }", (below,)
    )
    install(linked_site)
    return above, below


@pytest.mark.parametrize("name", [".dynamic", ".gnu.hash", ".dynsym", ".gnu.version", ".gnu.version_r", ".rela.dyn"])
def test_it_is_refused_before_the_linker_reads_it(
    linked_site: Site, attempt: Callable[..., Any], pair: tuple[Path, Path], name: str
) -> None:
    _, below = pair
    place, size = section(below, name)
    data = bytearray(below.read_bytes())
    data[place : place + size] = GARBAGE[:size]
    below.write_bytes(data)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("BadLibraryError", "E-LIB-006"), outcome
    assert str(below) in outcome.message
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-006")
    assert found["title"] == "libhsa-runtime64.so.1 is damaged"
    assert reinstalls(found["fix"], "rocm-sdk-core==7.10.0")


def test_each_length(linked_site: Site, attempt: Callable[..., Any], pair: tuple[Path, Path]) -> None:
    """A file that ends early is refused, or loads: only tables that the linker does not read were lost."""
    _, below = pair
    data = below.read_bytes()
    end_of_data = sum(section(below, ".data"))
    for size in range(0, len(data), len(data) // 12):
        below.write_bytes(data[:size])
        outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
        assert outcome.code == ("E-LIB-006" if size < end_of_data else ""), (size, outcome)
