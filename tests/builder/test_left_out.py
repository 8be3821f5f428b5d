"""What no package has of a build's artifacts: told by `artifacts`, refused with --strict, repeated by `check`."""

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from artifact_packages import build
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from checked_packages import check

from rocm_sdk_build.inputs.catalog import COMPONENTS

LIST = ".rocm-sdk-left-out.json"
# The artifacts of TheRock's BUILD_TOPOLOGY.toml in 2026 that AMD's packager does not take by name.
OTHERS = (
    *("aqlprofile-tests", "composable-kernel", "core-hiptests", "elfio", "fftw3", "fmt", "fusilli-plugin", "hiptensor"),
    *("libhipcxx", "miopen-plugin", "openmpi", "rdc", "rocr-debug-agent-tests", "rocrtst", "spdlog", "support"),
    *("sysdeps-hwloc", "sysdeps-libpciaccess"),
)


def built(tree: ArtifactTree, output: Path, *options: str) -> list[str]:
    """Make packages; return the lines on standard error."""
    done = build(tree, output, "--no-check", *options)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize("kpack", [True, False])
def test_artifacts_that_no_rule_takes(tmp_path: Path, kpack: bool) -> None:
    """TheRock 6893, 6588: what no package has is told, and headers of known artifacts are in the tree."""
    tree, dist = usual_tree(tmp_path / "artifacts", kpack), tmp_path / "dist"
    tree.file("libhipcxx_dev_generic", "include/cuda/atomic", "a")
    tree.file("composable-kernel_dev_generic", "include/ck_tile/core.hpp", "b")
    tree.file("rocprofiler-systems_dev_generic", "include/rocprofiler-systems/user.h", "c")
    tree.file("brand-new_dev_generic", "include/brandnew/brandnew.hpp", "12345")
    tree.file("brand-new_dev_generic", "include/brandnew/detail.hpp", "1")
    tree.file("brand-new_test_generic", "bin/brandnew-tests", "1")
    tree.library("brand-other_lib_gfx942", "lib/libbrandother.so.1", "libbrandother.so.1")
    tree.file("sysdeps_dev_generic", "lib/rocm_sysdeps/include/zlib.h", "of an artifact without libraries")
    # A rule takes the artifact, and no pattern of the rule takes the file.
    tree.file("rocprofiler-systems_run_generic", "lib/other/table.txt", "123")
    told = built(tree, tmp_path)
    size = (tree.root / "brand-other_lib_gfx942/x/stage/lib/libbrandother.so.1").stat().st_size
    assert told == [
        "brand-new_dev_generic: 2 files, 6 bytes, in no package",
        f"brand-other_lib_gfx942: 1 file, {size / 1000:.1f} kB, in no package",
        "rocprofiler-systems_run_generic: 1 file, 3 bytes, in no package",
    ]
    wheel = zipfile.ZipFile(next(dist.glob("**/rocm_sdk_devel*.whl")))
    with tarfile.open(fileobj=io.BytesIO(wheel.read("rocm_sdk_devel/_devel.tar"))) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
    headers = {
        "lib/rocm_sysdeps/include/zlib.h",
        "include/cuda/atomic",
        "include/ck_tile/core.hpp",
        "include/rocprofiler-systems/user.h",
    }
    assert headers <= members
    assert not any("brandnew" in each for each in members)

    done = check(dist)
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == told
    assert "complete, except 3 artifacts of its build, listed above, and rocm-sdk-loader: " in done.stdout
    assert [each["artifact"] for each in json.loads(check(dist, "--json").stdout)["left_out"]] == [
        each.partition(":")[0] for each in told
    ]


def test_strict(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("brand-new_dev_generic", "include/brandnew.hpp", "12345")
    done = build(tree, tmp_path, "--strict", "--no-check")
    assert done.returncode == 1
    assert done.stderr == (
        "brand-new_dev_generic: 1 file, 5 bytes, in no package\n"
        "rocm-sdk-build: 1 artifact with files in no package, listed above\n"
        "  fix: write `artifact`, `devel` or `leave` rows for them: rocm-sdk-build artifacts --rules FILE\n"
    )
    assert not (tmp_path / "dist").exists()
    rules = tmp_path / "rules.txt"
    usual = Path(__file__).parents[2] / "builder/rocm_sdk_build/inputs/rules.txt"
    rules.write_text(f"{usual.read_text()}\nleave  dev  brand-*  headers of a library that we link # no comment\n")
    assert built(tree, tmp_path, "--strict", "--rules", str(rules)) == []
    rules.write_text("leave  dev,devil  brand-new  why\n")
    assert f"{rules}:1: 'devil' is none of lib, run" in build(tree, tmp_path, "--rules", str(rules)).stderr
    # Other machines of the build have the other packages.
    assert built(tree, tmp_path, "--only", "core,rocm", "--linux-amdgpu-families", "gfx942,gfx1100") == []


@pytest.mark.parametrize("kpack", [True, False])
def test_known_artifacts_print_nothing(tmp_path: Path, kpack: bool) -> None:
    tree, dist = usual_tree(tmp_path / "artifacts", kpack), tmp_path / "dist"
    tree.file("brand-new_dev_generic", "include/brandnew.hpp")
    built(tree, tmp_path)
    assert (dist / LIST).exists()
    (tree.root / "brand-new_dev_generic").rename(tmp_path / "away")
    for name in OTHERS:
        for component in COMPONENTS:
            tree.file(f"{name}_{component}_generic", f"share/{name}/{component}.txt", name)
    assert built(tree, tmp_path, "--strict") == []
    assert json.loads((dist / LIST).read_text())["left_out"] == []
    assert "complete, except rocm-sdk-loader" in check(dist).stdout


def test_a_hostile_list(tmp_path: Path) -> None:
    tree, dist = usual_tree(tmp_path / "artifacts"), tmp_path / "dist"
    tree.file("brand-new_dev_generic", "include/brandnew.hpp", "12345")
    (told,) = built(tree, tmp_path)
    good = json.loads((dist / LIST).read_text())

    def answer() -> tuple[int, str]:
        done = check(dist)
        return done.returncode, done.stdout

    for wrong in (
        b"{",
        b"[" * 100_000,
        b" " * (1 << 25),
        json.dumps(good | {"left_out": {"a": 1}}).encode(),
        json.dumps(good | {"left_out": [{"artifact": "\x1b[2Ja_b_c", "files": 1, "size": 1}]}).encode(),
        json.dumps(good | {"left_out": [{"artifact": "a_b_c", "files": "x", "size": 1}]}).encode(),
        json.dumps(good | {"left_out": [{"artifact": "a_b_c", "files": 1, "size": 10**400}]}).encode(),
        json.dumps(good | {"left_out": [{"artifact": "a_b_c", "files": -1, "size": 1}]}).encode(),
        json.dumps({"version": good["version"]}).encode(),
        b"\xff",
    ):
        (dist / LIST).write_bytes(wrong)
        status, text = answer()
        assert status == 1, wrong[:100]
        assert f"{dist / LIST}: " in text and "  fix: remove it\n" in text and "\x1b" not in text
    (dist / LIST).write_text(json.dumps(good | {"version": "1.0"}))  # of other packages
    assert told not in answer()[1]
    (dist / LIST).unlink()
    os.mkfifo(dist / LIST)
    assert answer()[0] == 0
    (dist / LIST).unlink()
    (dist / LIST).symlink_to("/dev/zero")
    assert answer()[0] == 0


def test_a_build_says_what_check_says(tmp_path: Path) -> None:
    """Nixpkgs 564480: a build ended with 0 where `check` told that a CMake package requires one that is not there."""
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("core-hip_dev_generic", "lib/cmake/hip/hip-config.cmake", "find_dependency(AMDDeviceLibs)\n")
    done = build(tree, tmp_path)
    assert done.returncode == 1
    assert "has a package for CMake or pkg-config that cannot be used: " in done.stderr
    assert "AMDDeviceLibs, which the tree lacks" in done.stderr
    assert "to get the packages as they are, add --no-check" in done.stderr
    assert not (tmp_path / "dist").exists()
    built(tree, tmp_path)
    checked = check(tmp_path / "dist")
    assert checked.returncode == 1
    assert "AMDDeviceLibs, which the tree lacks" in checked.stdout

    tree.file("amd-llvm_dev_generic", "lib/cmake/AMDDeviceLibs/AMDDeviceLibsConfig.cmake", "# it is there\n")
    done = build_command(
        "artifacts", tree.root, "--output", tmp_path / "good", "--version", "7.10.0", "--no-loader", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("version", "is_told"), [("7.10.0rc2", True), ("7.10.0.dev3", True), ("7.10.0.post1", False)])
def test_a_version_before_a_release(tmp_path: Path, version: str, is_told: bool) -> None:
    """TheRock 776: pip passes over it without a number, and takes the placeholder of the public index."""
    done = build(usual_tree(tmp_path / "artifacts"), tmp_path, "--no-check", version=version)
    line = f"by its number alone: pip install 'rocm[libraries]=={version}' --find-links {tmp_path / 'dist'}\n"
    assert done.stderr.endswith(line) if is_told else done.stderr == ""
