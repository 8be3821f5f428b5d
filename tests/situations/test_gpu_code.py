"""Code for GPUs: what libraries have decides, not metadata; tables and archives of kernels that packages lack."""

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest
from checked_packages import built
from marked_tree import with_marker
from programs import completed
from sample_device_code import bundle, code_object, kernel_index, library, objects
from sample_machine import Machine, machine_of
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment

GENERIC = {"hipv4-amdgcn-amd-amdhsa--gfx11-generic": code_object(0x54 | 1 << 24, abi=4)}


def command(site: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    script = Path(sysconfig.get_path("scripts"), "rocm-sdk")
    return completed([script, *words], env=clean_environment() | {"PYTHONPATH": str(site)} | variables)


@pytest.fixture
def site(linked_site: Site) -> Site:
    """Return an SDK with a neutral libraries package and no device package.

    The libraries have code for gfx1030, gfx942 and gfx11-generic.
    """
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }")
    directory = linked_site.path / LIBRARIES / "lib"
    directory.mkdir(parents=True)
    library(directory / "librocsparse.so.1", [bundle(objects("gfx1030", "gfx942") | GENERIC)])
    text = json.dumps({"dist_amdgpu_targets": "gfx1030;gfx942;gfx1100"})
    linked_site.write(f"{CORE}/share/therock/dist_info.json", text)
    install(linked_site)
    return linked_site


def targets(site: Site, machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    return command(site.path, "targets", *words, ROCM_SDK_ROOTFS=str(machine.root))


@pytest.mark.parametrize("target", ["gfx1030", "gfx1151"])
def test_libraries_that_have_the_code(site: Site, machine: Machine, target: str) -> None:
    machine.gpu(1, target)
    codes = "E-GPU-002,E-CODE-001,E-CODE-002,N-CODE-003,W-CODE-006"
    assert run_test(site.path, "--only", codes, ROCM_SDK_ROOTFS=str(machine.root)).problems == []
    missing = targets(site, machine, "--missing")
    assert (missing.returncode, missing.stdout) == (0, "")
    assert target in targets(site, machine, "--installed").stdout.strip().split(";")
    assert targets(site, machine, "--cmake", "machine").returncode == 0
    checked = targets(site, machine, "--check")
    (line,) = [line for line in checked.stdout.splitlines() if line.startswith("libraries: ")]
    assert {"gfx1030", "gfx942", target} <= set(line.partition(": ")[2].split(";"))
    is_said = "gfx1151 is supported by libraries, not by rocm-sdk-core" in checked.stderr
    assert is_said == (target == "gfx1151")


def test_a_gpu_that_no_library_has_code_for(site: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1201")
    found = run_test(site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root)).only("E-GPU-002")
    assert found["cause"] == "no installed package has device code for it; supported: gfx942, gfx1030, gfx11-generic"
    missing = targets(site, machine, "--missing")
    assert (missing.returncode, missing.stdout.partition(":")[0]) == (1, "gfx1201")
    refused = targets(site, machine, "--cmake", "gfx1201")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "no device code for gfx1201; installed: code for gfx942, gfx1030" in refused.stderr


def test_one_library_lacks_what_another_has(site: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1030")
    directory = site.path / LIBRARIES / "lib"
    for name in ("librocfft.so.0", "librccl.so.1"):
        library(directory / name, [bundle(objects("gfx942"))])
    library(directory / "librocrand.so.1", [bundle(objects("gfx942")), bundle(objects("gfx1030"))])
    said = run_test(site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    found = {each["code"]: each for each in said.problems if "-CODE-" in each["code"]}
    assert sorted(found) == ["N-CODE-003", "W-CODE-006"]
    assert found["W-CODE-006"]["title"] == "this SDK has no code for the GPU gfx1030 in rccl"
    assert found["W-CODE-006"]["cause"] == "rccl: code for gfx942"
    assert found["N-CODE-003"]["cause"] == "rocrand: in 1 of 2 parts"


# ---- the files of two builds of rocBLAS were put together: the index of one leads to tables of the other

FALLBACK, TUNED = "TensileLibrary_Type_HH_fallback", "TensileLibrary_Type_SS_gfx1100"


@pytest.mark.parametrize(
    ("state", "code", "says"),
    [
        ("whole", "", "exact code for gfx1100"),
        ("missing", "E-CODE-007", "exact code for gfx1100; a TABLE OF KERNELS IS MISSING: some calls will fail"),
        ("untuned", "N-CODE-008", "exact code for gfx1100; fallback kernels only, which are slow"),
    ],
)
def test_tables_of_kernels(linked_site: Site, state: str, code: str, says: str) -> None:
    kernels = linked_site.path / LIBRARIES / "lib/rocblas/library"
    kernels.mkdir(parents=True)
    library(kernels.parents[1] / "librocblas.so.5", [bundle(objects("gfx1100"))])
    (kernels / "Kernels.so-000-gfx1100.hsaco").write_bytes(code_object(0x41, size=64))
    tables = {"": [FALLBACK]} | ({"gfx1100": [TUNED]} if state != "untuned" else {})
    (kernels / "TensileLibrary_lazy_gfx1100.dat").write_bytes(kernel_index(tables))
    for name in (FALLBACK, TUNED):
        (kernels / f"{name}.dat").write_bytes(b"")
    install(linked_site)
    if state == "missing":
        (kernels / f"{FALLBACK}.dat").unlink()
    said = command(linked_site.path, "check-gpu", "--gpu", "gfx1100")
    assert said.returncode == int(state == "missing")
    assert [line for line in said.stdout.splitlines() if line.startswith(f"  rocblas                     {says}")]
    assert (f"E-CODE-007: rocblas: {kernels}/{FALLBACK}.dat is not there" in said.stdout) == (state == "missing")
    (gpu,) = json.loads(command(linked_site.path, "check-gpu", "--gpu", "gfx1100", "--json").stdout)["gpus"]
    assert [(each["code"], each["breaks"]) for each in gpu["problems"]] == ([(code, ["rocblas"])] if code else [])


# ---- archives that a device package never had, apart from those that no build has, and from removed ones

LOST = "../.kpack/rccl_lib_@GFXARCH@.kpack"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packages")
    tree = with_marker(place / "artifacts", LOST)
    tree.file("blas_lib_gfx1151", ".kpack/blas_lib_gfx1151.kpack", b"KPAK")
    return built(tree.root, place / "dist", linux_families="gfx1100,gfx942,gfx1151")


def unpacked(dist: Path, site: Path, target: str) -> Path:
    """Unpack the packages as an installer does, with the device packages for one target."""
    for wheel in dist.glob("*.whl"):
        if "device" not in wheel.name or target in wheel.name:
            zipfile.ZipFile(wheel).extractall(site)
    return site


def lacks(site: Path, gpu: str = "") -> dict[str, dict[str, Any]]:
    """Return the problems about packages, files and code for GPUs, by their codes; `gpu` is the GPU of the machine."""
    root = machine_of(site.parent / f"machine-{gpu}", *([gpu] if gpu else [])).root
    environment = clean_environment() | {"PYTHONPATH": str(site), "ROCM_SDK_ROOTFS": str(root)}
    words = [sys.executable, "-m", "rocm_sdk", "test", "--only", "packages,files,gpus", "--json"]
    problems = json.loads(completed(words, env=environment).stdout)["problems"]
    said = [each for each in problems if "CODE" in each["code"] or each["code"] in ("E-GPU-002", "E-FILE-001")]
    assert len({each["code"] for each in said}) == len(said)
    return {each["code"]: each for each in said}


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["", "gfx942"])
def test_a_fault_of_the_packages(dist: Path, tmp_path: Path, gpu: str) -> None:
    """A problem names the library, the archive, the package that is to have it, and the one who can repair it."""
    site = unpacked(dist, tmp_path / "site", "gfx942")
    problems = lacks(site, gpu)
    assert list(problems) == ["E-CODE-019"]
    lost = problems["E-CODE-019"]
    assert (lost["severity"], lost["title"]) == ("error", "no package has the kernels of rccl")
    assert f"rccl: {site}/_rocm_sdk_libraries/.kpack/rccl_lib_gfx942.kpack is in no package" in lost["cause"]
    assert "Tell the builder of rocm-sdk-device-gfx942" in lost["fix"]


def test_no_code_for_the_gpu(dist: Path, tmp_path: Path) -> None:
    """The package for another GPU is not there; or it is, and no build has RCCL's kernels for the GPU."""
    problems = lacks(unpacked(dist, tmp_path / "site", "gfx942"), "gfx1100")
    assert problems.keys() == {"E-CODE-002", "E-CODE-019"}
    assert "rocm-sdk-device-gfx1100==7.10.0" in problems["E-CODE-002"]["fix"]
    assert list(lacks(unpacked(dist, tmp_path / "other/site", "gfx1151"), "gfx1151")) == ["W-CODE-006"]


def test_an_archive_that_was_removed(dist: Path, tmp_path: Path) -> None:
    site = unpacked(dist, tmp_path / "site", "gfx942")
    record = next(site.glob("rocm_sdk_device_gfx942-*.dist-info/RECORD"))
    record.write_text(f"_rocm_sdk_libraries/.kpack/rccl_lib_gfx942.kpack,,\n{record.read_text()}")
    assert list(lacks(site)) == ["E-FILE-001"]
