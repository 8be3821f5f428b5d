"""`rocm-sdk tree --timing`: cold and warm, what each file waits for, and when cold is not tried."""

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_failed
from other_user import OtherUser
from sample_site import LIBRARIES, Site, compile_library

from rocm_sdk.cli.tree import timing
from rocm_sdk.cli.tree.timing import bytes_by_kind

Call = Callable[..., subprocess.CompletedProcess[str]]
TABLES = "static int data[9999] = {1}; int *address = data; int code(void) { return *address; }"


def test_text(call: Call) -> None:
    done = call("tree", "hipsparse", "--timing")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    columns = lines[0].split()
    if "cold" in columns:  # on tmpfs it cannot be tried
        assert columns == ["library", "size", "warm", "cold", "waits", "touches", "what", "for"]
        assert "warm" in lines[-2] and "cold" in lines[-2]
        assert lines[-1].startswith("without a page list: rocm-sdk init --record-pages")
    assert [line.split()[0] for line in lines[1:4]] == ["libhipsparse.so.1", "librocsparse.so.1", "libamdhip64.so.7"]
    assert lines[4].startswith("3 files")


def test_json(call: Call) -> None:
    found = json.loads(call("tree", "hipsparse", "--timing", "--json").stdout)
    timing, paths = (
        found["timing"],
        {found["steps"][0]["path"], *(each["path"] for each in found["steps"][0]["brings"])},
    )
    assert timing.keys() == {"warm", "cold", "listed", "unlisted", "why_not_cold", "stayed", "touched"}
    assert timing["warm"]["steps"].keys() == {found["steps"][0]["path"]}
    assert 0 < timing["warm"]["steps"][found["steps"][0]["path"]] < timing["warm"]["seconds"]
    assert timing["touched"].keys() == paths
    for path, kinds in timing["touched"].items():
        assert 0 < sum(kinds.values()) <= Path(path).stat().st_size + 4095
        assert "symbols" in kinds
    assert (timing["cold"] is None) == (timing["why_not_cold"] is not None)
    assert timing["listed"] is None
    assert json.loads(call("tree", "hipsparse", "--json").stdout)["timing"] is None


@pytest.mark.slow
def test_reading_ahead_without_a_list(call: Call) -> None:
    """Reading ahead is timed where a load does it: the user may have it done always, or never."""
    for read_ahead in ("0", "1"):
        variables = {"ROCM_SDK_READ_AHEAD": read_ahead}
        timing = json.loads(call("tree", "hipsparse", "--timing", "--json", **variables).stdout)["timing"]
        assert timing["listed"] is None
        assert (timing["unlisted"] is None) == (timing["cold"] is None or read_ahead == "0")
        if timing["unlisted"] is not None:
            assert ", reading ahead " in call("tree", "hipsparse", "--timing", **variables).stdout


def test_with_a_page_list(call: Call) -> None:
    assert call("init", "--record-pages").returncode == 0
    timing = json.loads(call("tree", "hipsparse", "--timing", "--json").stdout)["timing"]
    assert (timing["listed"] is None) == (timing["cold"] is None)
    assert timing["unlisted"] is None
    if timing["listed"] is not None:
        assert ", with the page list " in call("tree", "hipsparse", "--timing").stdout


def test_files_of_others_stay_in_memory(other_user: OtherUser, open_directory: Path, sdk: Site) -> None:
    site = open_directory / "site"
    shutil.copytree(sdk.path, site)
    done = other_user.run("-m", "rocm_sdk", "tree", "hipsparse", "--timing", ROCM_SDK_ROOT=str(site))
    assert done.returncode == 0, done.stderr
    assert "cold could not be tried: " in done.stdout
    assert "belongs to another user" in done.stdout
    assert "waits" not in done.stdout


def test_files_that_cannot_leave_the_memory(call: Call, sdk: Site) -> None:
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        pytest.skip("nothing may be written to /dev/shm")
    site = shm / f"rocm-sdk-test-{os.getpid()}"
    try:
        shutil.copytree(sdk.path, site)
        timing = json.loads(call("tree", "hipsparse", "--timing", "--json", ROCM_SDK_ROOT=str(site)).stdout)["timing"]
    finally:
        shutil.rmtree(site)
    assert "do not leave the memory" in timing["why_not_cold"]
    assert len(timing["stayed"]) == 3
    assert timing["cold"] is None and timing["touched"]


@pytest.mark.slow
def test_what_libraries_print_and_break(call: Call, sdk: Site) -> None:
    source = "#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void say(void) {{ {} }}"
    sdk.library("libroctx64.so.4", source.format('puts("[1, 2]"); fflush(stdout);'))
    assert json.loads(call("tree", "roctx64", "--timing", "--json").stdout)["timing"]["warm"]["seconds"] > 0
    for code in ("_exit(7);", 'puts("[1, [2]]"); fflush(stdout); _exit(0);', "_exit(0);"):
        sdk.library("libroctx64.so.4", source.format(code))
        assert_failed(call("tree", "roctx64", "--timing"), 1, "the process that loads ends with status")


@pytest.mark.parametrize("words", [("--load",), ("--bindings",), ("--dot",), ("--html",)])
def test_it_stands_alone(call: Call, words: tuple[str, ...]) -> None:
    assert_failed(call("tree", "hipsparse", "--timing", *words), 2, "--timing stands alone")


def test_a_file_is_not_loaded(call: Call, sdk: Site) -> None:
    done = call("tree", str(sdk.path / LIBRARIES / "lib/libhipsparse.so.1"), "--timing")
    assert_failed(done, 2, "--timing is for short names")


# ---- sections


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return compile_library(tmp_path / "liba.so", "liba.so", TABLES)


def test_sections_are_those_that_readelf_tells(library: Path) -> None:
    rows = [line.split() for line in subprocess.check_output(["readelf", "-SW", library], text=True).splitlines()]
    sizes = {row[-10]: int(row[-6], 16) for row in rows if len(row) > 10 and row[-10].startswith(".")}
    found = bytes_by_kind(str(library), [(0, library.stat().st_size)])
    assert found[timing.DATA] >= sizes[".data"] > 9999
    assert found[timing.CODE] == sum(
        sizes[name] for name in (".init", ".plt", ".plt.got", ".text", ".fini") if name in sizes
    )
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(found.values()) >= library.stat().st_size


def test_a_part(library: Path) -> None:
    assert bytes_by_kind(str(library), [(0, 64)]) == {timing.REST: 64}
    assert bytes_by_kind(str(library), []) == {}


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [
        (0, "<I", 0),  # no ELF file
        (4, "<B", 1),  # of 32 bits
        (40, "<Q", 1 << 63),  # section headers before the beginning
        (40, "<Q", (1 << 63) - 1),  # behind the end
        (58, "<H", 1),  # smaller headers
        (60, "<H", 0),  # none
    ],
)
def test_damaged_headers(library: Path, place: int, form: str, value: int) -> None:
    data = bytearray(library.read_bytes())
    struct.pack_into(form, data, place, value)
    library.write_bytes(data)
    assert bytes_by_kind(str(library), [(0, 4096)]) == {timing.REST: 4096}


def test_many_sections_that_overlap(library: Path) -> None:
    """Each costs, so there is a limit to them."""
    whole = struct.pack("<2I4Q2I2Q", 0, 1, 2, 0, 0, 1 << 62, 0, 0, 0, 0)
    data = bytearray(library.read_bytes()[:64])
    struct.pack_into("<Q", data, 40, 64)
    struct.pack_into("<2H", data, 60, 65535, 0)  # and no names
    library.write_bytes(bytes(data) + whole * 65535)
    assert bytes_by_kind(str(library), [(0, 4096)]) == {timing.CONSTANTS: 4096 * 200}
    library.write_bytes(b"\x7fELF")
    assert bytes_by_kind(str(library), [(0, 4096)]) == {timing.REST: 4096}
