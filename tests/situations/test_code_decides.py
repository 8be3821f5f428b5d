"""The metadata of packages says nothing of a GPU that the libraries have code for."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, code_object, library, objects
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment

GENERIC = {"hipv4-amdgcn-amd-amdhsa--gfx11-generic": code_object(0x54 | 1 << 24, abi=4)}


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
    return completed(
        [str(Path(sysconfig.get_path("scripts"), "rocm-sdk")), "targets", *words],
        env=clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_ROOTFS": str(machine.root)},
    )


@pytest.mark.parametrize("target", ["gfx1030", "gfx942", "gfx1151"])
def test_libraries_that_have_the_code(site: Site, machine: Machine, target: str) -> None:
    machine.cpu(0)
    machine.gpu(1, target)
    said = run_test(
        site.path, "--only", "E-GPU-002,E-CODE-001,E-CODE-002,N-CODE-003,W-CODE-006", ROCM_SDK_ROOTFS=str(machine.root)
    )
    assert said.problems == []
    missing = targets(site, machine, "--missing")
    assert (missing.returncode, missing.stdout) == (0, "")
    assert target in targets(site, machine, "--installed").stdout.strip().split(";")
    assert targets(site, machine, "--cmake", "machine").returncode == 0


def test_a_gpu_that_no_library_has_code_for(site: Site, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1201")
    found = run_test(site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root)).only("E-GPU-002")
    assert found["cause"] == "no installed package has device code for it; supported: gfx942, gfx1030, gfx11-generic"
    missing = targets(site, machine, "--missing")
    assert (missing.returncode, missing.stdout.partition(":")[0]) == (1, "gfx1201")


def test_a_build_for_a_gpu_that_no_library_has_code_for(site: Site, machine: Machine) -> None:
    refused = targets(site, machine, "--cmake", "gfx1201")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "no device code for gfx1201; installed: code for gfx942, gfx1030" in refused.stderr


def test_one_library_lacks_what_another_has(site: Site, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1030")
    directory = site.path / LIBRARIES / "lib"
    library(directory / "librocfft.so.0", [bundle(objects("gfx942"))])
    library(directory / "librccl.so.1", [bundle(objects("gfx942"))])
    library(directory / "librocrand.so.1", [bundle(objects("gfx942")), bundle(objects("gfx1030"))])
    said = run_test(site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    found = {each["code"]: each for each in said.problems if "-CODE-" in each["code"]}
    assert sorted(found) == ["N-CODE-003", "W-CODE-006"]
    assert found["W-CODE-006"]["title"] == "this SDK has no code for the GPU gfx1030 in rccl"
    assert found["W-CODE-006"]["cause"] == "rccl: code for gfx942"
    assert found["N-CODE-003"]["cause"] == "rocrand: in 1 of 2 parts"


def test_the_parts_are_compared_by_their_code(site: Site, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1151")
    result = targets(site, machine, "--check")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("libraries: ")]
    assert {"gfx1030", "gfx942", "gfx1151"} <= set(line.partition(": ")[2].split(";"))
    assert "gfx1151 is supported by libraries, not by rocm-sdk-core" in result.stderr
