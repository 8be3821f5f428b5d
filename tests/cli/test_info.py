"""`rocm-sdk info`: everything on one screen, nothing invented where something is missing; sizes and build IDs."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_device_code import bundle, compressed, library, objects
from sample_machine import machine_of
from sample_report import install
from sample_site import CORE, LIBRARIES, Site

import rocm_sdk

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


def test_json(call: Call, sdk: Site) -> None:
    sdk.write(
        "rocm_sdk_core-7.10.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 7.10.0\n"
    )
    result = call("info", "--json")
    assert result.returncode == 0
    facts = json.loads(result.stdout)
    assert facts["schema"] == 1
    assert facts["loader"]["version"] == rocm_sdk.loader_version
    assert facts["sdk"] == {
        "version": "7.10.0",
        "targets": ["gfx942", "gfx1100"],
        "default_family": "gfx94X-dcgpu",
        "available_families": ["gfx94X-dcgpu"],
        "root": None,
        "fallback": None,
    }
    core = {"name": "rocm-sdk-core", "version": "7.10.0", "directory": f"{sdk.path}/{CORE}"}
    assert core in facts["packages"]
    assert (facts["devel"], facts["problems"]) == ("absent", [])


def test_states_of_the_development_tree(call: Call, devel_tree: Path) -> None:
    assert json.loads(call("info", "--json").stdout)["devel"] == "packed"
    assert not devel_tree.exists(), "asking changed it"
    assert call("env").returncode == 0
    assert json.loads(call("info", "--json").stdout)["devel"] == "extracted"


def test_text_fits_a_screen(call: Call) -> None:
    result = call("info")
    assert result.returncode == 0
    assert "ROCm SDK     7.10.0\n" in result.stdout
    assert "targets      gfx942 gfx1100\n" in result.stdout
    assert len(result.stdout.splitlines()) < 40


def test_the_default_family_is_among_the_families(call: Call) -> None:
    assert "families     gfx94X-dcgpu (default)\n" in call("info").stdout


# `rocm-sdk info --sizes`: by package, library and target.


def test_sizes(call: Call, sdk: Site, tmp_path: Path) -> None:
    directory = sdk.path / LIBRARIES / "lib"
    content = bundle(objects("gfx1030", "gfx942", size=50_000))
    library(directory / "librocrand.so.1", [content])
    library(directory / "librccl.so.1", [compressed(content, 3)])
    install(sdk)
    machine = machine_of(tmp_path / "machine", "gfx1030")
    result = call("info", "--sizes", "--json", ROCM_SDK_ROOTFS=str(machine.root))
    assert result.returncode == 0
    answer = json.loads(result.stdout)
    assert answer["schema"] == 1
    assert answer["gpus"] == ["gfx1030"]
    assert answer["targets"] == [
        {"target": "gfx942", "size": 100_000, "images": 2, "used": False},
        {"target": "gfx1030", "size": 100_000, "images": 2, "used": True},
    ]
    by_name = {each["name"]: each for each in answer["libraries"]}
    assert list(by_name) == ["rocrand", "rccl"]
    assert by_name["rocrand"]["code"] == len(content)
    assert by_name["rocrand"]["plain"] == by_name["rccl"]["plain"] == 100_000
    assert by_name["rccl"]["code"] < by_name["rocrand"]["code"] + 100
    assert by_name["rocrand"]["targets"] == {"gfx1030": 50_000, "gfx942": 50_000}
    packages = {each["name"]: each for each in answer["packages"]}
    assert packages["rocm-sdk-libraries"]["code"] == answer["code"] == sum(each["code"] for each in by_name.values())
    assert packages["rocm-sdk-core"]["code"] == 0
    text = call("info", "--sizes", ROCM_SDK_ROOTFS=str(machine.root)).stdout
    assert "target   decompressed  images  used here" in text.splitlines()
    assert "gfx942       100.0 kB       2  no" in text.splitlines()
    assert text.splitlines()[-1] == "100.0 kB of 200.0 kB are for targets that no GPU of this machine uses"


def test_no_gpu_uses_nothing_and_wastes_nothing(call: Call, sdk: Site, tmp_path: Path) -> None:
    library(sdk.path / LIBRARIES / "lib/librocrand.so.1", [bundle(objects("gfx942", size=50_000))])
    install(sdk)
    text = call("info", "--sizes", ROCM_SDK_ROOTFS=str(tmp_path)).stdout
    assert "target  decompressed  images" in text.splitlines()
    assert "gfx942       50.0 kB       1" in text.splitlines()
    assert "no GPU" not in text


def test_sizes_without_code(call: Call, tmp_path: Path) -> None:
    result = call("info", "--sizes", ROCM_SDK_ROOTFS=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")


# `rocm-sdk info --build-id`: what debuggers find debug information by, as readelf and debuginfod-find see it.


def build_id_of(path: Path) -> str:
    """Return the build ID of a file, as readelf reads it."""
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
