"""`rocm-sdk-build prefix`: the code of GPUs in packages, by family and by target."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from installed_rocm import Prefix, usual_rocm
from prefix_packages import (
    OF_GFX90A,
    OF_GFX1030,
    SHARED_LIBRARIES,
    VERSION,
    built,
    development,
    extras,
    platform_files,
    refused,
    search_path,
    small,
    wheel,
)
from programs import completed
from sample_device_code import FLAGS, bundle, code_object, compressed, kpack, library, objects, offload_binary

from rocm_sdk import coverage, device_code

pytestmark = pytest.mark.slow


def code_of(archive: zipfile.ZipFile, name: str, directory: Path) -> set[str]:
    (path,) = (path for path in archive.namelist() if path.endswith(f"/{name}"))
    return {each.target for each in device_code(archive.extract(path, directory)).targets}


def test_families(rocm: Prefix, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    told = built(dist, rocm.root, "--families", "gfx103X-all,gfx90a")
    facts = json.loads(wheel(dist, "rocm_sdk_core").read("_rocm_sdk_core/share/therock/dist_info.json"))
    assert facts["dist_amdgpu_targets"] == "gfx90a;gfx1030"
    why = "lib/libhipsparselt.so.0.2: none of its code is for the family"
    assert f"packaged for gfx90a with all their code:\n  {why}\n" in told
    assert {str(path.relative_to(dist)).partition(f"-{VERSION}")[0] for path in dist.rglob("*") if path.is_file()} == {
        *("gfx103X-all/rocm", "gfx103X-all/rocm_sdk_devel", "gfx90a/rocm", "gfx90a/rocm_sdk_devel"),
        *("rocm_profiler", "rocm_sdk_core", "rocm_sdk_libraries_gfx103x_all", "rocm_sdk_libraries_gfx90a"),
    }
    expected = {
        "gfx103X_all": (OF_GFX1030, {"gfx1030"}),
        "gfx90a": (OF_GFX90A, {"gfx90a"}),
    }
    for family, (single, targets) in expected.items():
        name = f"rocm_sdk_libraries_{family.lower()}"
        archive, directory = wheel(dist, name), tmp_path / name
        assert platform_files(dist, name) == SHARED_LIBRARIES | single
        assert code_of(archive, "librocrand.so.1", directory) == targets
        assert code_of(archive, "TensileLibrary_fallback.co", directory) == targets
        assert code_of(archive, "libhipsparselt.so.0", directory) == {"gfx942"}
        found = search_path(archive, f"_rocm_sdk_libraries_{family}/lib/librocrand.so.1", directory)
        assert found[0] == "$ORIGIN", "written after the code was"
    assert "lib/librocrand.so.1" in development_of(dist / "gfx90a")


def development_of(dist: Path) -> set[str]:
    return set(development(dist))


def test_code_that_cannot_be_rewritten(tmp_path: Path) -> None:
    """Code outside of the HIP compiler's bundles stays, and the build tells of it."""
    prefix = small(tmp_path / "rocm")
    images = [("amdgcn-amd-amdhsa", target, code_object(FLAGS[target])) for target in ("gfx90a", "gfx1030")]
    content = prefix.file("images", offload_binary(images))
    section = f'.section .llvm.offloading,"a"\n.incbin "{content}"\n'
    library(prefix.place("lib/librocsolver.so.0"), [], more=section)
    content.unlink()
    told = built(tmp_path / "dist", prefix.root, "--families", "gfx90a")
    assert "packaged for gfx90a with all their code:\n  lib/librocsolver.so.0: it has no section of GPU code" in told
    archive = wheel(tmp_path / "dist", "rocm_sdk_libraries_gfx90a")
    assert code_of(archive, "librocsolver.so.0", tmp_path) == {"gfx90a", "gfx1030"}


def test_compressed_code(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    plain = bundle(objects("gfx90a", "gfx1030", size=5000))
    path = library(prefix.place("lib/librocsolver.so.0"), [compressed(plain, 3)])
    path.with_suffix(".0.bundle").unlink()
    prefix.file("lib/rocblas/library/Kernels.co", compressed(plain, 2))
    assert "all their code" not in built(tmp_path / "dist", prefix.root, "--families", "gfx1030")
    archive = wheel(tmp_path / "dist", "rocm_sdk_libraries_gfx1030")
    for name in ("librocsolver.so.0", "Kernels.co"):
        assert code_of(archive, name, tmp_path) == {"gfx1030"}


def test_loose_code_without_any_for_the_family_is_left_out(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    for name, targets in (("a", ("gfx942",)), ("b", ("gfx942", "gfx90a"))):
        prefix.file(f"lib/rocblas/library/{name}.co", bundle(objects(*targets)))
    built(tmp_path / "dist", prefix.root, "--families", "gfx90a")
    names = platform_files(tmp_path / "dist", "rocm_sdk_libraries_gfx90a")
    assert {name for name in names if "rocblas" in name} == {"lib/rocblas/library/b.co"}


@pytest.mark.parametrize("options", [(), ("--families", "gfx90a"), ("--split",)], ids=["whole", "family", "split"])
def test_installed_by_pip(rocm: Prefix, tmp_path: Path, options: tuple[str, ...]) -> None:
    """All packages, the selector too: `rocm-sdk test` has nothing to say."""
    dist, site = tmp_path / "dist", tmp_path / "site"
    built(dist, rocm.root, *options)
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", str(site)]
    packages = [str(path) for path in dist.iterdir() if "gfx1030" not in path.name]
    environment = {**os.environ, "ROCM_SDK_TARGET_FAMILY": "gfx90a", "PIP_CONFIG_FILE": os.devnull}
    subprocess.run([*install, *packages], env=environment, check=True)
    command = [sys.executable, "-m", "rocm_sdk", "test", "--target", str(site), "--json"]
    report = json.loads(completed(command, env=environment).stdout)
    assert [each["code"] for each in report["problems"] if each["severity"] != "note"] == []


def test_kpack_archives(tmp_path: Path) -> None:
    """Of a ROCm that was built kpack-split: archives are for single targets."""
    prefix = small(tmp_path / "rocm")
    for target in ("gfx90a", "gfx942"):
        prefix.file(
            f".kpack/rand_lib_{target}.kpack", kpack({"lib/librocrand.so.1#0": {target: code_object(FLAGS[target])}})
        )
    built(tmp_path / "split", prefix.root, "--split")
    for target in ("gfx90a", "gfx942"):
        names = platform_files(tmp_path / "split", f"rocm_sdk_device_{target}")
        assert names == {f".kpack/rand_lib_{target}.kpack", f".devel_links/{target}.json"}
    built(tmp_path / "family", prefix.root, "--families", "gfx90a")
    names = platform_files(tmp_path / "family", "rocm_sdk_libraries_gfx90a")
    assert {name for name in names if "kpack" in name} == {".kpack/rand_lib_gfx90a.kpack"}


def test_split(rocm: Prefix, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    told = built(dist, rocm.root, "--split")
    assert "code that is in libraries stays there, for all targets" in told
    assert platform_files(dist, "rocm_sdk_libraries") == SHARED_LIBRARIES
    links = {".devel_links/gfx90a.json", ".devel_links/gfx1030.json"}
    assert platform_files(dist, "rocm_sdk_device_gfx90a") - links == OF_GFX90A
    assert platform_files(dist, "rocm_sdk_device_gfx1030") - links == OF_GFX1030
    all_targets = {"gfx90a", "gfx942", "gfx1030"}
    assert code_of(wheel(dist, "rocm_sdk_libraries"), "librocrand.so.1", tmp_path) == all_targets
    assert extras(dist) == {
        *("libraries", "devel", "profiler", "device", "device-gfx1030", "device-gfx90a", "device-all")
    }


def test_split_code(tmp_path: Path) -> None:
    """HIP's runtime finds code in kpack archives: each device package has the code for its target."""
    prefix = usual_rocm(tmp_path / "rocm")
    reader = prefix.library("lib/librocm_kpack.so.1.0")
    for path in prefix.root.glob("lib/libamdhip64.so*"):
        path.unlink()
    prefix.library("lib/libamdhip64.so.7.1", reader)
    generic = {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic": code_object(0x5F)}
    library(prefix.place("lib/librocsolver.so.0"), [bundle(generic)])
    for leftover in prefix.root.glob("lib/librocsolver.*"):
        if leftover.suffix != ".0":
            leftover.unlink()
    dist = tmp_path / "dist"
    told = built(dist, prefix.root, "--split")
    why = "its code for gfx9-4-generic is not for one processor"
    assert f"packaged in rocm-sdk-libraries with their code:\n  lib/librocsolver.so.0: {why}" in told
    assert "librocrand" not in told
    expected = {"gfx90a": OF_GFX90A, "gfx1030": OF_GFX1030, "gfx942": set()}
    for target, loose in expected.items():
        own = {f".kpack/libraries_{target}.kpack", f".devel_links/{target}.json"}
        assert platform_files(dist, f"rocm_sdk_device_{target}") == loose | own
    assert platform_files(dist, "rocm_sdk_libraries") == SHARED_LIBRARIES | {"lib/librocsolver.so.0"}
    names = {f"device-{target}" for target in expected}
    assert extras(dist) == {"libraries", "devel", "profiler", "device", "device-all"} | names
    archive = wheel(dist, "rocm_sdk_libraries")
    assert code_of(archive, "librocrand.so.1", tmp_path) == set()
    site = tmp_path / "site"
    for path in [
        *dist.glob("rocm_sdk_core*"),
        *dist.glob("rocm_sdk_libraries*"),
        *dist.glob("rocm_sdk_device_gfx90a*"),
    ]:
        with zipfile.ZipFile(path) as each:
            each.extractall(site)
    libraries = site / "_rocm_sdk_libraries/lib"
    found = {
        each.name: [gpu.verdict for gpu in each.gpus] for each in coverage(["gfx90a", "gfx942"], libraries).libraries
    }
    assert (found["rocrand"], found["hipsparselt"]) == (["compatible", "none"], ["none", "none"])


def test_split_compressed_code(tmp_path: Path) -> None:
    prefix = Prefix(tmp_path / "rocm")
    prefix.library("lib/libamdhip64.so.7.1", prefix.library("lib/librocm_kpack.so.1.0"))
    plain = bundle(objects("gfx90a", "gfx1030", size=5000))
    path = library(prefix.place("lib/librocsolver.so.0"), [compressed(plain, 3)])
    path.with_suffix(".0.bundle").unlink()
    built(tmp_path / "dist", prefix.root, "--split")
    for target in ("gfx90a", "gfx1030"):
        archive = wheel(tmp_path / "dist", f"rocm_sdk_device_{target}")
        assert code_of(archive, f"libraries_{target}.kpack", tmp_path) == {target}
        assert b"zstd-per-kernel" in archive.read(f"_rocm_sdk_libraries/.kpack/libraries_{target}.kpack")


def test_nothing_to_split(tmp_path: Path) -> None:
    prefix = Prefix(tmp_path / "rocm")
    prefix.library("lib/libamdhip64.so.7.1")
    prefix.library("lib/librocrand.so.1.1", code=("gfx90a",))
    told = refused(tmp_path / "dist", prefix.root, "--split")
    assert f"{prefix.root}: no file is for a single target" in told
    assert "--families" in told
