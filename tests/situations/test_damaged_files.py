"""Damaged libraries: cut off, with garbage in their tables, or with headers that contradict each other."""

import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import install, reinstalls, run_test
from sample_site import CORE, LIBRARIES, Site
from situations import flip

# A dependency's tables hold garbage, as after a disk error or a faulty tool: the linker would end the process.

SOURCE = """
#include <stdio.h>
int number = 8; int *pointers[40] = {&number};
int hsa_init(void) { return puts("started") + number; }
__attribute__((constructor)) static void start(void) { number = 9; }
"""
GARBAGE = bytes(range(1, 250)) * 100


def section(path: Path, name: str) -> tuple[int, int]:
    """Return the place of a section in the file, and its size, in bytes."""
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
def test_damaged_tables_are_refused_before_the_linker_reads_them(
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


PT_LOAD = 1


def headers_of(data: bytes) -> tuple[int, int, int]:
    """Return place, size and number of the program headers (64 bit, little-endian)."""
    (place,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return place, size, count


def enlarge(data: bytearray) -> None:
    """Put the end of the last segment behind the file."""
    place, size, count = headers_of(data)
    loads = [place + i * size for i in range(count) if struct.unpack_from("<I", data, place + i * size)[0] == PT_LOAD]
    struct.pack_into("<QQ", data, loads[-1] + 32, len(data) * 4, len(data) * 4)


def overlap(data: bytearray) -> None:
    """Put the beginning of the second segment into the first."""
    place, size, count = headers_of(data)
    loads = [place + i * size for i in range(count) if struct.unpack_from("<I", data, place + i * size)[0] == PT_LOAD]
    (address,) = struct.unpack_from("<Q", data, loads[0] + 16)
    struct.pack_into("<Q", data, loads[1] + 16, address)


def lose_headers(data: bytearray) -> None:
    """Put the program headers behind the file."""
    struct.pack_into("<Q", data, 32, len(data) + 64)


@pytest.mark.skipif(sys.byteorder != "little" or sys.maxsize < 1 << 32, reason="changes 64-bit little-endian headers")
@pytest.mark.parametrize("damage", [enlarge, overlap, lose_headers], ids=lambda each: each.__name__)
def test_program_headers_that_contradict_each_other(linked_site: Site, damage: Callable[[bytearray], None]) -> None:
    """A tool that changed the RPATH left program headers that contradict each other."""
    path = linked_site.library("libamdhip64.so.7", "int value = 7; int get(void) { return value; }")
    data = bytearray(path.read_bytes())
    damage(data)
    path.write_bytes(data)
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-006")
    assert found["title"] == "libamdhip64.so.7 is damaged"
    assert reinstalls(found["fix"], "rocm-sdk-core==7.10.0")


# A full disk or an interrupted copy left a part of a library.


@pytest.mark.parametrize("size", [0, 3, 50, 300, -1])
def test_a_truncated_library_is_damaged(linked_site: Site, attempt: Callable[..., Any], size: int) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.write_bytes(path.read_bytes()[:size])
    said = run_test(linked_site.path, "--only", "files,libraries")
    found = said.only("E-LIB-006")
    assert found["path"] == str(path)
    assert any(each.startswith("check E-FILE-002: ") for each in found["breaks"])
    if size < 0:  # the table of sections alone has lost a byte: it loads
        return
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("BadLibraryError", "E-LIB-006")
    assert str(path) in outcome.message
    assert found["title"] == "libamdhip64.so.7 is damaged"
    assert found["fix"] == outcome.fix
    assert reinstalls(outcome.fix, "rocm-sdk-core==7.10.0")


def test_words_in_the_path_do_not_make_it_one_for_another_machine(tmp_path: Path) -> None:
    site = Site(tmp_path / "a library for tests/site-packages", rpath="rpath")
    path = site.library("libamdhip64.so.7")
    install(site)
    content = bytearray(path.read_bytes())
    content[62:64] = (999).to_bytes(2, "little")  # e_shstrndx
    path.write_bytes(content)
    found = run_test(site.path, "--only", "libraries").only("E-LIB-006")
    assert "names of its sections" in found["cause"]


def test_a_fifo_in_the_place_of_a_library(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """No permission is missing."""
    hip = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    hip.unlink()
    os.mkfifo(hip)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert "is a FIFO where a file is expected" in outcome.message
    assert outcome.fix.startswith(f"Move {hip} away, which is a FIFO, then ")


# Two files have other contents, and what needs both crashes: which of them is behind that cannot be told.

_CRASH = "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }"
_DATA = "char data[9] = {1};"


@pytest.fixture
def site_of_two(linked_site: Site) -> Site:
    """Return an SDK with HIP and rocBLAS, and with MIOpen, which needs both and crashes.

    A test changes a byte of each of the two, which RECORD does not know.
    """
    hip = linked_site.library("libamdhip64.so.7", source=_DATA)
    blas = linked_site.library("librocblas.so.5", package=LIBRARIES, source=_DATA)
    linked_site.library("libMIOpen.so.1", package=LIBRARIES, needed=(hip, blas), source=_CRASH)
    return linked_site


def _breaks(site_of_two: Site) -> list[str]:
    """Return the libraries that the two problems break; each file has the fix of its package."""
    install(site_of_two)
    for path in site_of_two.path.glob("*/lib/lib[ar]*.so.*"):
        flip(path)
    problems = run_test(site_of_two.path, "--only", "files,libraries").problems
    found = [each for each in problems if each["code"] == "E-FILE-003"]
    assert {Path(each["path"]).name for each in found} == {"libamdhip64.so.7", "librocblas.so.5"}
    return list(dict.fromkeys(name for each in found for name in each["breaks"] if not name.startswith("check ")))


def test_the_cause_is_one_of_two_damaged_files(site_of_two: Site) -> None:
    assert _breaks(site_of_two) == ["MIOpen (by one of: libamdhip64.so.7, librocblas.so.5)"]


def test_the_damaged_file_that_explains_more(site_of_two: Site) -> None:
    """A library that needs only the first file crashes, too."""
    hip = site_of_two.path / CORE / "lib/libamdhip64.so.7"
    site_of_two.library("libhipblas.so.3", package=LIBRARIES, needed=(hip,), source=_CRASH)
    assert sorted(_breaks(site_of_two)) == ["MIOpen", "hipblas"]
