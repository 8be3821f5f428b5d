"""Archives of kernels that a device package never had, apart from those that no build has, and from removed ones."""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from checked_packages import built
from marked_tree import with_marker
from programs import completed
from sample_machine import machine_of
from sample_site import clean_environment

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


@pytest.fixture
def site(dist: Path, tmp_path: Path) -> Path:
    return unpacked(dist, tmp_path / "site", "gfx942")


def found(site: Path, gpu: str = "") -> dict[str, dict[str, Any]]:
    """Return the problems about packages, files and code for GPUs, by their codes; `gpu` is the GPU of the machine."""
    root = machine_of(site.parent / f"machine-{gpu}", *([gpu] if gpu else [])).root
    environment = clean_environment() | {"PYTHONPATH": str(site), "ROCM_SDK_ROOTFS": str(root)}
    command = [sys.executable, "-m", "rocm_sdk", "test", "--only", "packages,files,gpus", "--json"]
    problems = json.loads(completed(command, env=environment).stdout)["problems"]
    said = [each for each in problems if "CODE" in each["code"] or each["code"] in ("E-GPU-002", "E-FILE-001")]
    assert len({each["code"] for each in said}) == len(said)
    return {each["code"]: each for each in said}


@pytest.mark.parametrize("gpu", ["", "gfx942"])
def test_a_fault_of_the_packages(site: Path, gpu: str) -> None:
    """A problem names the library, the archive, the package that is to have it, and the one who can repair it."""
    problems = found(site, gpu)
    assert list(problems) == ["E-CODE-019"]
    lost = problems["E-CODE-019"]
    assert lost["severity"] == "error"
    assert lost["title"] == "no package has the kernels of rccl"
    assert f"rccl: {site}/_rocm_sdk_libraries/.kpack/rccl_lib_gfx942.kpack is in no package" in lost["cause"]
    assert "Tell the builder of rocm-sdk-device-gfx942" in lost["fix"]


def test_no_code_for_the_gpu(site: Path, dist: Path, tmp_path: Path) -> None:
    """The package for another GPU is not there; or it is, and no build has RCCL's kernels for the GPU."""
    problems = found(site, "gfx1100")
    assert problems.keys() == {"E-CODE-002", "E-CODE-019"}
    assert "rocm-sdk-device-gfx1100==7.10.0" in problems["E-CODE-002"]["fix"]
    assert list(found(unpacked(dist, tmp_path / "other/site", "gfx1151"), "gfx1151")) == ["W-CODE-006"]


def test_an_archive_that_was_removed(site: Path) -> None:
    record = next(site.glob("rocm_sdk_device_gfx942-*.dist-info/RECORD"))
    archive = site / "_rocm_sdk_libraries/.kpack/rccl_lib_gfx942.kpack"
    text = record.read_text()
    record.write_text(f"{archive.relative_to(site)},,\n{text}")
    assert list(found(site)) == ["E-FILE-001"]
