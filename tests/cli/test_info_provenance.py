"""`rocm-sdk info --provenance`: what packages say of their origin, in files that may be anything."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ended import succeeded
from hostile_input import TEXTS
from programs import completed
from sample_report import install
from sample_site import CORE, LIBRARIES, Site

from rocm_sdk.cli.info.closed_source import TABLE, state_of
from rocm_sdk.cli.info.manifest import read_manifest

Call = Callable[..., subprocess.CompletedProcess[str]]

MANIFEST = f"{CORE}/share/therock/therock_manifest.json"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT: dict[str, Any] = {
    "the_rock_commit": COMMIT,
    "rocm_version": "7.10.0",
    "rocm_package_version": "7.10.0a1",
    "github_job": "build",
    "github_run_id": 1234567,
    "submodules": [
        {
            "submodule_name": "rocm-systems",
            "submodule_path": "rocm-systems",
            "submodule_url": "https://someone:secret@github.com/ROCm/rocm-systems.git",
            "pin_sha": COMMIT[::-1],
            "patches": ["0001-a.patch"],
        },
        {"submodule_name": "half", "pin_sha": None, "patches": None},
    ],
    "flags": {"KPACK_SPLIT_ARTIFACTS": True, "NESTED": {}},
}
METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: 7.10.0
{fields}
"""


def answer(call: Call) -> dict[str, Any]:
    result = call("info", "--provenance", "--json")
    assert "Traceback" not in result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {Path(each["path"]).name: each for each in document["libraries"]}


def metadata(site: Site, name: str, *fields: str) -> Path:
    return site.write(
        f"{name.replace('-', '_')}-7.10.0.dist-info/METADATA", METADATA.format(name=name, fields="\n".join(fields))
    )


def readelf(option: str, path: str) -> str:
    return succeeded(["readelf", option, path]).stdout


def test_the_manifest(call: Call, sdk: Site) -> None:
    sdk.write(MANIFEST, json.dumps(CONTENT))
    manifest = answer(call)["manifest"]
    assert manifest == {
        "path": str(sdk.path / MANIFEST),
        "commit": COMMIT,
        "rocm_version": "7.10.0",
        "package_version": "7.10.0a1",
        "job": "build",
        "run": "1234567",
        "submodules": [
            {
                "name": "rocm-systems",
                "path": "rocm-systems",
                "url": "https://github.com/ROCm/rocm-systems.git",
                "commit": COMMIT[::-1],
                "patches": ["0001-a.patch"],
            },
            {"name": "half", "path": None, "url": None, "commit": None, "patches": None},
        ],
        "flags": {"KPACK_SPLIT_ARTIFACTS": True, "NESTED": None},
    }
    text = call("info", "--provenance").stdout
    assert f"built from  TheRock {COMMIT}\n" in text
    assert "secret" not in text
    assert "half          unknown       unknown  unknown\n" in text


def test_libraries_as_readelf_reads_them(call: Call, sdk: Site) -> None:
    install(sdk)
    libraries = by_name(answer(call))
    assert set(libraries) == {"libamdhip64.so.7", "librocsparse.so.1", "libhipsparse.so.1"}
    for each in libraries.values():
        assert f"Build ID: {each['build_id']}\n" in readelf("-n", each["path"])
        assert each["compilers"]
        comment = succeeded(["readelf", "-p", ".comment", each["path"]]).stdout
        assert all(f"{compiler}\n" in comment for compiler in each["compilers"])
        assert each["source"] is None
    assert libraries["libhipsparse.so.1"]["package"] == "rocm-sdk-libraries"


def test_a_stripped_library_is_unknown(call: Call, sdk: Site) -> None:
    library = sdk.path / CORE / "lib/libamdhip64.so.7"
    subprocess.run(
        ["objcopy", "--remove-section", ".comment", "--remove-section", ".note.gnu.build-id", library], check=True
    )
    found = by_name(answer(call))[library.name]
    assert (found["build_id"], found["compilers"]) == (None, [])
    (row,) = (line for line in call("info", "--provenance").stdout.splitlines() if line.startswith(library.name))
    assert row.split() == [library.name, "unknown", "unknown", "unknown"]


def test_the_nearest_licence(call: Call, sdk: Site) -> None:
    """Of its component, of a directory above it, of its package; one of several files of a package is nobody's."""
    install(sdk)
    component = sdk.write(f"{LIBRARIES}/share/doc/rocSPARSE/LICENSE.md", "MIT")
    sdk.library("libLLVM.so.1", directory="lib/llvm/lib")
    above = sdk.write(f"{CORE}/lib/llvm/LICENSE.TXT", "Apache")
    metadata(sdk, "rocm-sdk-core", "License-Expression: MIT")
    metadata(sdk, "rocm-sdk-libraries", "License-File: a/LICENSE", "License-File: b/LICENSE")
    libraries = by_name(answer(call))
    assert libraries["librocsparse.so.1"]["licence"] == {
        "expression": None,
        "file": str(component),
        "found_by": "component",
    }
    assert libraries["libLLVM.so.1"]["licence"]["file"] == str(above)
    assert libraries["libamdhip64.so.7"]["licence"] == {"expression": "MIT", "file": None, "found_by": "package"}
    assert libraries["libhipsparse.so.1"]["licence"] is None


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
    libraries = by_name(answer(call))
    found = {name: libraries[name]["licence"] for name in libraries if libraries[name]["licence"] is not None}
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
        assert by_name(answer(call))["libamdhip64.so.7"]["licence"] is None
    licence = sdk.write("rocm_sdk_core-7.10.0.dist-info/licenses/share/LICENSE", "MIT")
    metadata(sdk, "rocm-sdk-core", "License-File: share/LICENSE")
    assert by_name(answer(call))["libamdhip64.so.7"]["licence"]["file"] == str(licence)


def test_origins_of_packages(call: Call, sdk: Site) -> None:
    install(sdk)
    info = "rocm_sdk_core-7.10.0.dist-info"
    sdk.write(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: rocm_sdk_build\n")
    sdk.write(f"{info}/INSTALLER", "pip\n")
    archive = {"url": "https://me:secret@host/x.whl?token=secret", "archive_info": {"hashes": {"sha256": "ab"}}}
    sdk.write(f"{info}/direct_url.json", json.dumps(archive))
    result = call("info", "--provenance", "--json")
    (core,) = (each for each in json.loads(result.stdout)["packages"] if each["name"] == "rocm-sdk-core")
    assert (core["generator"], core["installer"]) == ("rocm_sdk_build", "pip")
    assert (core["url"], core["digest"]) == ("https://host/x.whl", "sha256=ab")
    assert "secret" not in result.stdout
    assert "made by rocm_sdk_build, installed by pip from https://host/x.whl\n" in call("info", "--provenance").stdout


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_no_documents(call: Call, sdk: Site, name: str) -> None:
    install(sdk)
    (sdk.path / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
    (sdk.path / MANIFEST).write_bytes(TEXTS[name])
    (sdk.path / "rocm_sdk_core-7.10.0.dist-info/direct_url.json").write_bytes(TEXTS[name])
    document = answer(call)
    assert document["manifest"] is None
    assert len([each for each in document["problems"] if MANIFEST in each]) == 1
    assert {each["url"] for each in document["packages"]} == {None}


WRONG: list[object] = [None, True, 1.5, [], {}, [[]], [None], [{"pin_sha": {}}], "", "x" * 5000, {"url": []}, {"a": {}}]


def test_values_of_another_kind_are_unknown(sdk: Site) -> None:
    for value in WRONG:
        sdk.write(MANIFEST, json.dumps(dict.fromkeys(CONTENT, value)))
        manifest = read_manifest(str(sdk.path / CORE))
        assert manifest is not None
        texts = (manifest.commit, manifest.rocm_version, manifest.package_version, manifest.job, manifest.run)
        assert set(texts) == {None}, value
        assert all(set(each) == {None} for each in manifest.submodules)
        assert set(manifest.flags.values()) <= {None}


def test_a_manifest_that_is_no_file(call: Call, sdk: Site, tmp_path: Path) -> None:
    path = sdk.path / MANIFEST
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    assert "not a regular file" in str(answer(call)["problems"])
    path.unlink()
    (tmp_path / "elsewhere").write_text(json.dumps(CONTENT))
    path.symlink_to(os.path.relpath(tmp_path / "elsewhere", path.parent))
    assert "symbolic link" in str(answer(call)["problems"])
    path.unlink()
    path.mkdir()
    assert "not a regular file" in str(answer(call)["problems"])
    path.rmdir()
    with path.open("wb") as file:
        file.truncate(5 << 20)
    assert "larger than" in str(answer(call)["problems"])


def test_controls_reach_no_terminal(call: Call, sdk: Site) -> None:
    evil = "\x1b]0;title\x07\u202e"
    content = json.loads(json.dumps(CONTENT).replace(COMMIT, json.dumps(evil)[1:-1]))
    content["flags"] = {evil: evil}
    content["submodules"][0]["submodule_url"] = evil
    sdk.write(MANIFEST, json.dumps(content))
    install(sdk)
    sdk.write("rocm_sdk_core-7.10.0.dist-info/INSTALLER", evil)
    result = call("info", "--provenance")
    assert result.returncode == 0
    assert all(each.isprintable() or each == "\n" for each in result.stdout + result.stderr)


def test_closed_source_by_version(call: Call, sdk: Site) -> None:
    sdk.library("librocprof-trace-decoder.so")
    found = by_name(answer(call))["librocprof-trace-decoder.so"]
    assert found["source"] == "unknown", "7.10 lies between the versions that are known"
    assert all(each.startswith("https://") for each in found["reason_from"])
    assert "librocprof-trace-decoder.so may have no public source" in call("info", "--provenance").stdout
    for row in TABLE:
        assert row.closed_until < row.open_from
        assert state_of(row, "{}.{}.1".format(*row.closed_until)) == "closed"
        assert state_of(row, "{}.{}.0rc1".format(*row.open_from)) == "open"
        assert state_of(row, None) == state_of(row, "unknown") == state_of(row, "7") == "unknown"


def test_without_an_sdk(script: Path, tmp_path: Path) -> None:
    command = [str(script), "info", "--provenance", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = completed(command, env=environment)
    document = json.loads(result.stdout)
    assert (result.returncode, document["sdk"], document["manifest"], document["libraries"]) == (1, None, None, [])
