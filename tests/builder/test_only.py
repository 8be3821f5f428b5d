"""`rocm-sdk-build artifacts --only`: one package by one machine, which has the artifacts of no other."""

import itertools
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command

from rocm_sdk._native import catalog
from rocm_sdk_build.inputs.rules import Rules, read_rules
from rocm_sdk_build.packages.parts import choose
from rocm_sdk_build.packages.platform_tag import Names

VERSION = "7.10.0"
TARGETS = ("gfx1100", "gfx942")
FAMILIES = ("gfx110X-all", "gfx94X-dcgpu")
PARTS = ("core", "libraries", "device-gfx1100", "device-gfx942", "profiler", "devel", "rocm")
FAMILY_PARTS = ("core", "libraries-gfx110X-all", "libraries-gfx94X-dcgpu", "profiler", "devel", "rocm")
# All other artifacts than these may be absent. Written by hand, from docs/packaging.md.
NEEDED = {
    "core": {"amd-llvm_run", "base_lib", "base_run", "core-hip_dev", "core-hip_doc", "core-hip_lib"},
    "libraries": {"base_lib", "blas_dev", "blas_lib"},
    "device-gfx1100": {"base_lib", "blas_dev", "blas_lib", "blas_lib_gfx1100"},
    "device-gfx942": {"base_lib", "blas_dev", "blas_lib", "blas_lib_gfx942"},
    "profiler": {"base_lib", "rocprofiler-systems_lib", "rocprofiler-systems_run"},
    "devel": {
        *("amd-llvm_run", "base_lib", "base_run", "core-hip_dev", "core-hip_doc", "core-hip_lib"),
        *("blas_dbg", "blas_dev", "blas_lib", "prim_dev"),
    },
    "rocm": {"base_lib"},
}


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return build_command("artifacts", *words, "--version", VERSION, "--no-loader")


def build(root: Path, output: Path, *options: str, families: Iterable[str] = TARGETS) -> str:
    done = run(root, "--output", output, "--linux-amdgpu-families", ",".join(families), *options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refused(root: Path, output: Path, *options: str, families: Iterable[str] = TARGETS, status: int = 1) -> str:
    done = run(root, "--output", output, "--linux-amdgpu-families", ",".join(families), *options)
    assert (done.returncode, done.stdout) == (status, "")
    assert "Traceback" not in done.stderr
    assert not output.exists() or not [path for path in output.iterdir() if path.name != ".artifacts"]
    return done.stderr


def whole_tree(root: Path, kpack: bool = True) -> ArtifactTree:
    """Make a tree with licences, libraries that need libraries of other packages, and files that no package gets."""
    tree = usual_tree(root, kpack)
    tree.file("core-hip_doc_generic", "share/doc/hip/LICENSE.md", "MIT")
    tree.file("blas_dev_generic", "share/doc/rocblas/LICENSE.md", "MIT")
    tree.file("blas_dbg_generic", "share/doc/rocblas-dbg/LICENSE.md", "for the development tree alone")
    libraries = tree.root.parent / "libraries"
    other = ArtifactTree(libraries)
    roctx = other.library("x_lib_generic", "lib/libroctx64.so.4", "libroctx64.so.4")
    linked = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined")
    tree.library("core-hip_lib_generic", "lib/libroctx64.so.4", "libroctx64.so.4")
    tree.library("blas_lib_generic", "lib/libhipblas.so.3", "libhipblas.so.3", flags=(*linked, str(roctx)))
    systems = "rocprofiler-systems_lib_generic"
    tree.library(systems, "lib/librocprof-sys-needs.so.1", "librocprof-sys-needs.so.1", flags=(*linked, str(roctx)))
    shutil.rmtree(libraries)
    return tree


def files_of(dist: Path) -> dict[str, bytes]:
    return {str(path.relative_to(dist)): path.read_bytes() for path in dist.rglob("*") if path.is_file()}


def copy_of(tree: ArtifactTree, root: Path, names: Iterable[str]) -> Path:
    """Make other files of the same content, at another place, and return the place."""
    for name in names:
        shutil.copytree(tree.root / name, root / name, symlinks=True)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_union_is_what_one_run_makes(tmp_path: Path, seed: int) -> None:
    """In any order, each from artifacts of its own place, of which no other is there."""
    tree = whole_tree(tmp_path / "artifacts")
    build(tree.root, tmp_path / "whole")
    parts = list(PARTS)
    random.Random(seed).shuffle(parts)
    for part in parts:
        stems = {name if "gfx" in name else f"{name}_generic" for name in NEEDED[part]}
        root = copy_of(tree, tmp_path / "machines" / part, stems)
        told = build(root, tmp_path / "union", "--only", part)
        assert len(told.splitlines()) == 1
    whole, union = files_of(tmp_path / "whole"), files_of(tmp_path / "union")
    assert len(whole) == len(PARTS)
    assert union.keys() == whole.keys()
    assert [name for name in whole if union[name] != whole[name]] == []


@pytest.mark.slow
def test_the_union_of_families(tmp_path: Path) -> None:
    tree = whole_tree(tmp_path / "artifacts", kpack=False)
    build(tree.root, tmp_path / "whole", families=FAMILIES)
    rules = read_rules()
    for part in reversed(FAMILY_PARTS):
        choice = choose([part], FAMILIES, False, rules)
        root = copy_of(tree, tmp_path / "machines" / part, filter(choice.needs, stems_of(tree)))
        build(root, tmp_path / "union", "--only", part, families=FAMILIES)
    assert not (tmp_path / "machines/libraries-gfx94X-dcgpu/blas_lib_gfx110X-all").exists()
    assert files_of(tmp_path / "union") == files_of(tmp_path / "whole")
    assert len(files_of(tmp_path / "whole")) == len(FAMILY_PARTS) + 2  # devel and rocm are there for each


def stems_of(tree: ArtifactTree) -> list[str]:
    return sorted(path.name for path in tree.root.iterdir())


def test_what_each_package_needs(tmp_path: Path) -> None:
    """The table of this file, and that nothing else is looked at: whatever else lies there may be broken."""
    tree = whole_tree(tmp_path / "artifacts")
    rules = read_rules()
    needed: Mapping[str, set[str]] = {
        part: {
            name.removesuffix("_generic") for name in filter(choose([part], TARGETS, True, rules).needs, stems_of(tree))
        }
        for part in PARTS
    }
    assert needed == NEEDED
    for name in stems_of(tree):
        if name.removesuffix("_generic") not in NEEDED["device-gfx942"]:
            (tree.root / name / "artifact_manifest.txt").write_text("../leads/out\n")
    (tree.root / "prim_test_generic.tar.zst").write_bytes(b"damaged")
    build(tree.root, tmp_path / "out", "--only", "device-gfx942")


@pytest.mark.slow
def test_several_at_once(tmp_path: Path) -> None:
    """By several processes with one output, which one file system has; names with and without what all begin with."""
    tree = whole_tree(tmp_path / "artifacts")
    build(tree.root, tmp_path / "whole")
    groups = ("core,rocm", "rocm-sdk-devel;rocm-profiler", "device-gfx942, device-gfx1100", "libraries,libraries")
    with ThreadPoolExecutor(4) as pool:
        told = pool.map(lambda names: build(tree.root, tmp_path / "union", "--only", names), groups)
    assert sorted(len(each.splitlines()) for each in told) == [1, 2, 2, 2]
    assert files_of(tmp_path / "union") == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_names(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    told = refused(tree.root, tmp_path / "out", "--only", "core,device-gfx940", status=2)
    assert told == (
        "rocm-sdk-build: --only device-gfx940: no package of this SDK is called so; "
        "did you mean device-gfx942 or device-gfx1100?\n"
        "  fix: there are core, libraries, device-gfx1100, device-gfx942, devel, profiler, rocm\n"
    )
    assert "did you mean libraries" in refused(tree.root, tmp_path / "out", "--only", "library", status=2)
    done = run(tree.root, "--output", tmp_path / "out", "--only", "core")
    assert done.stderr.endswith("\n  fix: name them: --linux-amdgpu-families gfx94X-dcgpu,gfx1100\n")
    assert done.stderr.startswith("rocm-sdk-build: --only: the packages say for which targets the SDK is")
    assert done.returncode == 1
    done = run(tree.root, "--output", tmp_path / "out", "--only", ",")
    assert (done.returncode, "invalid names value: ','" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("part", "gone", "told"),
    [
        ("rocm", "base_lib_generic", "fix: fetch the artifact base_lib_generic too\n"),
        (
            "device-gfx942",
            "blas_lib_gfx942",
            "no artifact is for rocm-sdk-device-gfx942\n  fix: fetch its artifacts: blas_lib_gfx942, ",
        ),
        (
            "device-gfx942",
            "blas_lib_generic",
            "blas_lib_generic is not there: rocm-sdk-device-gfx942 has the code of blas_lib_gfx942 for the libraries",
        ),
        (
            "libraries",
            "blas_lib_generic",
            "no artifact is for rocm-sdk-libraries\n  fix: fetch its artifacts: blas_lib_g",
        ),
        ("devel", "blas_lib_generic", "no artifact is for rocm-sdk-libraries: rocm-sdk-devel links to its files\n"),
        ("profiler", "rocprofiler-systems_*", "no artifact is for rocm-profiler\n  fix: fetch its artifacts: "),
    ],
)
def test_an_absent_artifact(tmp_path: Path, part: str, gone: str, told: str) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    for path in tree.root.glob(gone):
        shutil.rmtree(path)
    assert told in refused(tree.root, tmp_path / "out", "--only", part)


def test_artifacts_that_are_there_but_have_nothing(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    shutil.rmtree(tree.root / "blas_lib_gfx942/x/stage/lib")
    shutil.rmtree(tree.root / "blas_lib_gfx942/x/stage/.kpack")
    assert "no artifact has files for rocm-sdk-device-gfx942" in refused(
        tree.root, tmp_path / "out", "--only", "device-gfx942"
    )


@pytest.mark.slow
def test_an_sdk_without_profiler(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    for path in tree.root.glob("rocprofiler-*"):
        shutil.rmtree(path)
    build(tree.root, tmp_path / "whole", "--allow-no-profiler")
    for part in PARTS:
        if part != "profiler":
            build(tree.root, tmp_path / "union", "--only", part, "--allow-no-profiler")
    assert files_of(tmp_path / "union") == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_platform_tags_of_a_package_alone(tmp_path: Path) -> None:
    """The rules say which libraries other packages have; what they do not say is not promised."""
    tree = usual_tree(tmp_path / "artifacts")
    strange = tree.library("blas_lib_generic", "lib/libstrange.so.1", "libstrange.so.1")
    user = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", str(strange))
    tree.library("core-hip_lib_generic", "lib/libuser.so.1", "libuser.so.1", flags=user)
    for only in ((), ("--only", "core")):
        output = tmp_path / f"out{len(only)}"
        done = run(tree.root, "--output", output, "--linux-amdgpu-families", ",".join(TARGETS), "--no-check", *only)
        assert done.returncode == 0
        assert "libuser.so.1 needs libstrange.so.1, which neither the SDK nor every system has" in done.stderr
        (core,) = output.glob("rocm_sdk_core-*.whl")
        assert core.stem.endswith("-linux_x86_64")


def test_a_rule_for_a_library_of_another_package(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    strange = tree.library("blas_lib_generic", "lib/libstrange.so.1", "libstrange.so.1")
    user = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", str(strange))
    tree.library("core-hip_lib_generic", "lib/libuser.so.1", "libuser.so.1", flags=user)
    own = Path(str(sys.modules[Rules.__module__].__file__)).with_name("rules.txt").read_text()
    (tmp_path / "rules.txt").write_text(f"{own}take libraries lib/libstrange.so*\n")
    build(tree.root, tmp_path / "out", "--only", "core", "--no-check", "--rules", str(tmp_path / "rules.txt"))
    (core,) = (tmp_path / "out").glob("*.whl")
    assert "-manylinux_" in core.name


def test_every_library_of_the_catalog_is_known_to_other_packages() -> None:
    """Else a package alone would be tagged as if nobody had it."""
    rules = read_rules()
    for (shortname, package, pattern, *_), other in itertools.product(catalog(), ("core", "libraries")):
        if other != package:
            name = pattern.replace("[-.]*so*", ".so.20").replace("*", "")
            name = f"{name}1" if name.endswith(".") else name
            assert fnmatchcase(name, pattern)
            assert Names(patterns=rules.libraries_of_others(other)).has(name), shortname


@pytest.mark.slow
def test_wheels_that_are_tested_alone(tmp_path: Path) -> None:
    """A package alone is tested: core's libraries load, and all files of RECORD are there."""
    tree = usual_tree(tmp_path / "artifacts")
    gone = tree.library("core-hip_lib_generic", "lib/libgone.so.1", "libgone.so.1")
    tree.library("core-hip_lib_generic", "lib/libneeds.so.1", "libneeds.so.1", flags=("-Wl,--no-as-needed", str(gone)))
    gone.unlink()
    done = run(tree.root, "--output", tmp_path / "out", "--linux-amdgpu-families", "gfx942,gfx1100", "--only", "core")
    assert done.returncode == 1
    assert "the packages do not work where they are installed" in done.stderr
    build(tree.root, tmp_path / "out", "--only", "libraries")
    (libraries,) = (tmp_path / "out").iterdir()
    with zipfile.ZipFile(libraries) as archive:
        assert archive.testzip() is None
