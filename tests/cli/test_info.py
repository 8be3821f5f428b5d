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
            "licence": None,
            "debuginfod": f"/buildid/{found}/debuginfo",
            "debug_file": f"/usr/lib/debug/.build-id/{found[:2]}/{found[2:]}.debug",
            "installed_debug_file": None,
        }
        for path, found in zip((hip, rocsparse), ids, strict=True)
    ]
    text = call("info", "--build-id", "amdhip64").stdout.splitlines()
    assert text[1].split() == [hip.name, ids[0], "unknown", files[0]["debug_file"]]


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


# Licences of the same files.


def metadata(site: Site, name: str, *fields: str) -> None:
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 7.10.0", *fields, ""])
    site.write(f"{name.replace('-', '_')}-7.10.0.dist-info/METADATA", text)


def licences(call: Call) -> dict[str, Any]:
    files = json.loads(call("info", "--build-id", "--json").stdout)["files"]
    return {Path(each["path"]).name: each["licence"] for each in files}


def test_the_nearest_licence(call: Call, sdk: Site) -> None:
    """Of its component, of a directory above it, of its package; one of several files of a package is nobody's."""
    install(sdk)
    component = sdk.write(f"{LIBRARIES}/share/doc/rocSPARSE/LICENSE.md", "MIT")
    sdk.library("libLLVM.so.1", directory="lib/llvm/lib")
    above = sdk.write(f"{CORE}/lib/llvm/LICENSE.TXT", "Apache")
    metadata(sdk, "rocm-sdk-core", "License-Expression: MIT")
    metadata(sdk, "rocm-sdk-libraries", "License-File: a/LICENSE", "License-File: b/LICENSE")
    found = licences(call)
    assert found["librocsparse.so.1"] == {"expression": None, "file": str(component), "found_by": "component"}
    assert found["libLLVM.so.1"]["file"] == str(above)
    assert found["libamdhip64.so.7"] == {"expression": "MIT", "file": None, "found_by": "package"}
    assert found["libhipsparse.so.1"] is None
    shown = {line.split()[0]: line.split()[2] for line in call("info", "--build-id").stdout.splitlines()[1:]}
    assert shown == {
        "libamdhip64.so.7": "MIT",
        "libLLVM.so.1": "llvm/LICENSE.TXT",
        "librocsparse.so.1": "rocSPARSE/LICENSE.md",
        "libhipsparse.so.1": "unknown",
    }


def test_the_licences_of_debian(call: Call, sdk: Site) -> None:
    """Licences lie in the metadata by the names of Debian's packages: with the number of the ABI, or of the table."""
    for name, package in {
        "libamdhip64.so.7": "libamdhip64-7",
        "libdrm_amdgpu.so.1": "libdrm-amdgpu1",
        "libLLVM-15.so.1": "libllvm15",
        "libz.so.1": "zlib1g",
        "libnuma.so.1": "libnuma-dev",
    }.items():
        sdk.library(name)
        sdk.write(f"rocm_sdk_core-7.10.0.dist-info/licenses/share/doc/{package}/copyright", "License: Expat\n")
    install(sdk)
    found = {name: each for name, each in licences(call).items() if each is not None}
    directory = sdk.path / "rocm_sdk_core-7.10.0.dist-info/licenses/share/doc"
    assert {name: Path(each["file"]).relative_to(directory).parts[0] for name, each in found.items()} == {
        "libamdhip64.so.7": "libamdhip64-7",
        "libdrm_amdgpu.so.1": "libdrm-amdgpu1",
        "libLLVM-15.so.1": "libllvm15",
        "libz.so.1": "zlib1g",
    }
    assert {each["found_by"] for each in found.values()} == {"component"}


def test_a_licence_file_of_metadata_stays_inside(call: Call, sdk: Site) -> None:
    install(sdk)
    for name in ("../../../../../../etc/passwd", "/etc/passwd", "a\0b", ""):
        metadata(sdk, "rocm-sdk-core", f"License-File: {name}")
        assert licences(call)["libamdhip64.so.7"] is None
    licence = sdk.write("rocm_sdk_core-7.10.0.dist-info/licenses/share/LICENSE", "MIT")
    metadata(sdk, "rocm-sdk-core", "License-File: share/LICENSE")
    assert licences(call)["libamdhip64.so.7"]["file"] == str(licence)


def test_a_licence_that_moves_the_cursor(call: Call, sdk: Site) -> None:
    install(sdk)
    metadata(sdk, "rocm-sdk-core", "License-Expression: \x1b]0;title\x07\u202e")
    said = call("info", "--build-id").stdout
    assert all(each.isprintable() or each == "\n" for each in said)


def test_a_licence_that_is_a_whole_text(call: Call, sdk: Site) -> None:
    """The table stays narrow; the document has all of it."""
    install(sdk)
    text = "Permission is hereby granted, " * 1000
    metadata(sdk, "rocm-sdk-core", f"License: {text}")
    assert max(map(len, call("info", "--build-id").stdout.splitlines())) < 250
    assert licences(call)["libamdhip64.so.7"]["expression"] == text.strip()


def test_a_file_elsewhere_has_no_licence(call: Call, sdk: Site, tmp_path: Path) -> None:
    shutil.copy(sdk.path / CORE / "lib/libamdhip64.so.7", tmp_path / "mine.so")
    (file,) = json.loads(call("info", "--build-id", str(tmp_path / "mine.so"), "--json").stdout)["files"]
    assert file["licence"] is None
