"""`rocm-sdk info --build-id`: what debuggers find debug information by, as readelf and debuginfod-find see it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_site import CORE, LIBRARIES, Site

Call = Callable[..., subprocess.CompletedProcess[str]]


def build_id_of(path: Path) -> str:
    """As readelf reads it."""
    text = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    (found,) = re.findall("Build ID: ([0-9a-f]+)", text)
    return str(found)


def test_a_short_name_and_a_file(call: Call, sdk: Site) -> None:
    hip, rocsparse = sdk.path / CORE / "lib/libamdhip64.so.7", sdk.path / "_rocm_sdk_libraries/lib/librocsparse.so.1"
    result = call("info", "--build-id", "amdhip64", str(rocsparse), "--json")
    assert result.returncode == 0
    ids = build_id_of(hip), build_id_of(rocsparse)
    assert ids[0] != ids[1]
    files: list[dict[str, Any]] = json.loads(result.stdout)["files"]
    assert files == [
        {
            "path": str(path),
            "build_id": found,
            "debuginfod": f"/buildid/{found}/debuginfo",
            "debug_file": f"/usr/lib/debug/.build-id/{found[:2]}/{found[2:]}.debug",
            "installed_debug_file": None,
        }
        for path, found in zip((hip, rocsparse), ids, strict=True)
    ]
    text = call("info", "--build-id", "amdhip64").stdout.splitlines()
    assert text[1].split() == [hip.name, ids[0], files[0]["debug_file"]]


def test_all_libraries(call: Call, sdk: Site) -> None:
    names = [line.split()[0] for line in call("info", "--build-id").stdout.splitlines()[1:]]
    assert names == ["libamdhip64.so.7", "libhipsparse.so.1", "librocsparse.so.1"]
    library = sdk.path / CORE / "lib/libamdhip64.so.7"
    subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", library], check=True)
    result = call("info", "--build-id")
    assert result.returncode == 1
    assert "libamdhip64.so.7   none" in result.stdout


def test_a_file_of_the_current_directory(
    call: Call, sdk: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short name is the SDK's library, as in `tree`; any other name may be a file's."""
    library = sdk.path / LIBRARIES / "lib/librocsparse.so.1"
    monkeypatch.chdir(tmp_path)
    for name in ("mine.so", "amdhip64"):
        shutil.copy(library, name)
    found = json.loads(call("info", "--build-id", "mine.so", "amdhip64", "--json").stdout)["files"]
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    assert [(each["path"], each["build_id"]) for each in found] == [
        ("mine.so", build_id_of(library)),
        (str(hip), build_id_of(hip)),
    ]


@pytest.mark.parametrize(
    ("name", "status"),
    [("nonsense", 2), ("rccl", 1), ("./absent.so", 2), ("/etc/passwd", 1), ("/dev/null", 1), ("/", 1)],
)
def test_names_that_lead_to_no_library(call: Call, name: str, status: int) -> None:
    result = call("info", "--build-id", name, "amdhip64")
    assert result.returncode == status
    assert "rocm-sdk: " in result.stderr
    assert "Traceback" not in result.stderr
    assert "libamdhip64.so.7" in result.stdout, "the others are told"


@pytest.mark.skipif(shutil.which("debuginfod-find") is None, reason="debuginfod-find is not installed")
def test_debuginfod_asks_for_that_path(call: Call, tmp_path: Path) -> None:
    """The client of elfutils finds a file at this path of a server."""
    found = json.loads(call("info", "--build-id", "amdhip64", "--json").stdout)["files"][0]
    place = tmp_path / f"server{found['debuginfod']}"
    place.parent.mkdir(parents=True)
    place.write_text("debug information")
    environment = {**os.environ, "DEBUGINFOD_URLS": (tmp_path / "server").as_uri(), "HOME": str(tmp_path)}
    command = ["debuginfod-find", "debuginfo", found["build_id"]]
    path = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(path).read_text() == "debug information"
