"""`rocm-sdk path` with several names, `rocm-sdk list`: where libraries are."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from own_terminal import terminal_output
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def without_rccl(sdk: Site) -> None:
    facts = '{"dist_amdgpu_targets": "gfx942", "absent_libraries": ["rccl"]}'
    sdk.write(f"{CORE}/share/therock/dist_info.json", facts)


def test_path_of_several_libraries(call: Call, sdk: Site) -> None:
    hip = f"{sdk.path}/{CORE}/lib/libamdhip64.so.7"
    sparse = f"{sdk.path}/{LIBRARIES}/lib/libhipsparse.so.1"
    result = call("path", "hipsparse", "amdhip64")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{sparse}\n{hip}\n", "")
    result = call("path", "amdhip64", "amdhip46", "rccl", "hipsparse")
    assert (result.returncode, result.stdout) == (2, f"{hip}\n{sparse}\n")
    messages = [line for line in result.stderr.splitlines() if line.startswith("rocm-sdk: ")]
    assert ["amdhip46" in messages[0], "rccl" in messages[1], len(messages)] == [True, True, 2]
    result = call("path", "amdhip64", "rccl", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["libraries"] == [
        {"shortname": "amdhip64", "path": hip, "package": "core", "found_via": "file name"},
        {"shortname": "rccl", "path": None, "package": None, "found_via": None},
    ]


def test_list_says_what_its_columns_are(call: Call) -> None:
    headings, *rows = call("list").stdout.splitlines()
    assert headings.split() == ["library", "package", "size", "file"]
    end = headings.index("size") + len("size")
    assert all(row[end - 1] != " " and row[end : end + 1] in {"", " "} for row in rows), "sizes end below each other"
    assert call("list", "--installed").stdout.splitlines()[1].startswith("amdhip64 ")


def test_list_names_site_packages_once_on_a_terminal(script: Path, sdk: Site) -> None:
    variables = clean_environment() | {"PYTHONPATH": str(sdk.path), "COLUMNS": "80"}
    lines = terminal_output([str(script), "list", "--installed"], variables).splitlines()
    assert "".join(lines).count(str(sdk.path)) == 1
    row = next(line for line in lines if line.startswith("amdhip64"))
    assert row.split()[-1] == "_rocm_sdk_core/lib/libamdhip64.so.7"


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("run", "true")])
def test_a_refused_override_is_told(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    """It is no fault of each library: nothing is listed, or started, as if there were none."""
    other = compile_library(tmp_path / "libamdhip64.so.5", "libother.so.1", "int other;")
    result = call(*words, ROCM_SDK_LIBRARY_amdhip64=str(other))
    assert (result.returncode, result.stdout) == (1, "")
    assert "ROCM_SDK_LIBRARY_amdhip64: the SONAME of" in result.stderr


def test_a_damaged_library_is_told(call: Call, sdk: Site) -> None:
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    hip.write_bytes(hip.read_bytes()[:100])
    result = call("list", "--installed")
    assert result.returncode == 1 and str(hip) in result.stderr
    assert "hipsparse" in result.stdout


READS = "openat,open,newfstatat,stat,statx,access,faccessat,faccessat2,getdents64"


@pytest.mark.parametrize("package", [CORE, LIBRARIES])
@pytest.mark.parametrize(
    "words", [("list",), ("info",), ("run", "true"), ("path", "hipsparse", "amdhip64")], ids="_".join
)
def test_an_error_of_the_disk_is_no_absence(call: Call, sdk: Site, package: str, words: tuple[str, ...]) -> None:
    fault = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(sdk.path / package), "-e", f"inject={READS}:error=EIO"]
    result = call(*words, before=fault)
    assert f"{sdk.path / package}: " in result.stderr and "Input/output error" in result.stderr, result.stderr
    assert "not installed" not in result.stderr + result.stdout
