"""`--record-pages` of the commands that make packages: core carries what a load touches."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from prefix_packages import built, refused, small
from programs import completed
from sample_site import run_interpreter

from rocm_sdk_build.output.promotion import promote

LIST = "_rocm_sdk_core/lib/rocm-sdk.pages"
LOAD = "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64', 'hiprand')"


def members(dist: Path, name: str) -> dict[str, tuple[bytes, int]]:
    """Return the content and the mode of each member, by its name."""
    (path,) = dist.glob(f"{name}-*.whl")
    with zipfile.ZipFile(path) as wheel:
        return {each.filename: (wheel.read(each), each.external_attr) for each in wheel.infolist()}


@pytest.mark.slow
def test_core_carries_it(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    prefix.library("lib/libhiprand.so.1.1")
    built(tmp_path / "with", prefix.root, "--record-pages")
    built(tmp_path / "without", prefix.root)
    before, after = (members(tmp_path / each, "rocm_sdk_core") for each in ("without", "with"))
    record = next(name for name in before if name.endswith("/RECORD"))
    assert {name: after[name] for name in before if name != record} == {
        name: before[name] for name in before if name != record
    }
    assert after.keys() - before.keys() == {LIST}
    assert after[record][0].count(b"\n") == before[record][0].count(b"\n") + 1
    names = {line.split("\t")[0] for line in after[LIST][0].decode().splitlines()[1:]}
    assert names == {
        "_rocm_sdk_core/lib/libamdhip64.so.7",
        "_rocm_sdk_libraries/lib/libhiprand.so.1",
        "_rocm_sdk_libraries/lib/librocrand.so.1",
    }
    site = tmp_path / "site"
    for wheel in (tmp_path / "with").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    done = run_interpreter("-c", LOAD, ROCM_SDK_ROOT=str(site), ROCM_SDK_READ_AHEAD="1", ROCM_SDK_VERBOSE="1")
    assert f"reading ahead as {site}/{LIST} says (" in done.stderr
    tested = run_interpreter("-m", "rocm_sdk", "test", "--only", "files", "--deep", "--json", ROCM_SDK_ROOT=str(site))
    assert json.loads(tested.stdout)["problems"] == []


@pytest.mark.slow
def test_a_release_keeps_it(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    command = [
        sys.executable,
        "-m",
        "rocm_sdk_build",
        "prefix",
        str(prefix.root),
        "--version",
        "7.1.2rc1",
        "--no-loader",
    ]
    subprocess.run([*command, "--output", str(tmp_path / "rc"), "--record-pages"], check=True, capture_output=True)
    promote(tmp_path / "rc", tmp_path / "release", "7.1.2")
    assert members(tmp_path / "rc", "rocm_sdk_core")[LIST] == members(tmp_path / "release", "rocm_sdk_core")[LIST]


def test_without_the_test_of_the_packages(tmp_path: Path) -> None:
    told = refused(tmp_path / "out", small(tmp_path / "rocm").root, "--record-pages", "--no-check")
    assert "--record-pages loads the packages where they are tested" in told
    assert "fix: add --check" in told


def test_without_core(tmp_path: Path) -> None:
    tree: ArtifactTree = usual_tree(tmp_path / "artifacts")
    command = [
        sys.executable,
        "-m",
        "rocm_sdk_build",
        "artifacts",
        str(tree.root),
        "--version",
        "7.10.0",
        "--no-loader",
    ]
    words = ["--only", "libraries", "--linux-amdgpu-families", "gfx942", "--record-pages"]
    done = completed([*command, "--output", str(tmp_path / "out"), *words])
    assert done.returncode == 1
    assert "--record-pages: core, which carries the list, is not among the packages" in done.stderr
    assert not list((tmp_path / "out").glob("*.whl"))
