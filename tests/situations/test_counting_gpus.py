"""Reports about machines with several GPUs, or with one that ROCm does not serve well: what counts, what is said."""

import json
import subprocess
from pathlib import Path

import pytest
from sample_device_code import bundle, library, objects
from sample_machine import Machine, machine_of
from sample_report import Said, install, run_test
from sample_site import CORE, LIBRARIES, Site, run_interpreter

from rocm_sdk import _native

IGPU, DISCRETE = "gfx1036", "gfx1100"
USE = "rocm-sdk run --gpu supported PROGRAM"
CODES = {"E-GPU-002", "W-GPU-034", "W-GPU-035", "N-GPU-036", "E-CODE-001", "E-CODE-002"}


@pytest.fixture
def sdk(tmp_path: Path) -> Site:
    """Return an SDK with code for a discrete GPU."""
    site = Site(tmp_path / "site", rpath="rpath")
    site.library("libamd_comgr.so.3")
    (site.path / LIBRARIES / "lib").mkdir(parents=True)
    library(site.path / LIBRARIES / "lib/librocblas.so.5", [bundle(objects(DISCRETE))])
    install(site)
    return site


def command(site: Site, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", *words, check=False, PYTHONPATH=str(site.path), **variables)


def told(site: Site, machine: Machine, **variables: str) -> tuple[set[str], Said]:
    said = run_test(site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root), **variables)
    return said.codes & CODES, said


def test_an_igpu_beside_a_discrete_gpu(sdk: Site, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", IGPU, DISCRETE)
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    codes, said = told(sdk, machine)
    assert codes == {"W-GPU-035"}
    found = said.only("W-GPU-035")
    assert found["title"] == f"the GPU {IGPU} has no code here, and {DISCRETE} has"
    assert found["fix"].startswith(f"{USE}  # use {DISCRETE}")
    checked = command(sdk, "check-gpu", **root)
    assert checked.returncode == 0
    assert USE in checked.stdout
    assert "E-GPU-002" not in checked.stdout
    document = json.loads(command(sdk, "check-gpu", "--json", **root).stdout)
    assert [[each["code"] for each in gpu["problems"]] for gpu in document["gpus"]] == [["W-GPU-035"], []]
    assert command(sdk, "check-gpu", "--gpu", IGPU, **root).returncode == 1, "who names it is told of it"


@pytest.mark.parametrize("variable", ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"])
def test_an_igpu_that_a_variable_hides(sdk: Site, tmp_path: Path, variable: str) -> None:
    machine = machine_of(tmp_path / "machine", IGPU, DISCRETE)
    hidden = {variable: "1"}
    codes, said = told(sdk, machine, **hidden)
    assert codes == {"N-GPU-036"}
    assert said.only("N-GPU-036")["cause"] == f"{variable} hides it from programs"
    checked = command(sdk, "check-gpu", ROCM_SDK_ROOTFS=str(machine.root), **hidden)
    assert checked.returncode == 0
    assert "E-GPU-002" not in checked.stdout


def test_the_discrete_gpu_is_hidden(sdk: Site, tmp_path: Path) -> None:
    """Programs get the integrated one alone."""
    machine = machine_of(tmp_path / "machine", IGPU, DISCRETE)
    hidden = {"HIP_VISIBLE_DEVICES": "0"}
    assert told(sdk, machine, **hidden)[0] == {"E-GPU-002"}
    assert command(sdk, "check-gpu", ROCM_SDK_ROOTFS=str(machine.root), **hidden).returncode == 1


@pytest.mark.parametrize("gpus", [(IGPU,), ("gfx1030", DISCRETE)], ids=["alone", "two discrete ones"])
def test_gpus_that_count(sdk: Site, tmp_path: Path, gpus: tuple[str, ...]) -> None:
    machine = machine_of(tmp_path / "machine", *gpus)
    codes, said = told(sdk, machine)
    assert codes == {"E-GPU-002"}
    assert said.status == 1
    assert f"rocm-sdk install sdk --upgrade --gpu {gpus[0]}" in said.only("E-GPU-002")["fix"]
    assert command(sdk, "check-gpu", ROCM_SDK_ROOTFS=str(machine.root)).returncode == 1


@pytest.mark.parametrize(("gpus", "variables", "verdict"), [
    ((IGPU, DISCRETE), {}, f"the SDK was built for the discrete GPU, not for {IGPU}: {USE}"),
    ((IGPU, DISCRETE), {"HIP_VISIBLE_DEVICES": "1"}, "the SDK was built for each usable GPU"),
    ((IGPU,), {}, f"the SDK was not built for {IGPU}"),
])  # fmt: skip
def test_the_overview_agrees(
    sdk: Site, tmp_path: Path, gpus: tuple[str, ...], variables: dict[str, str], verdict: str
) -> None:
    machine = machine_of(tmp_path / "machine", *gpus)
    sdk.write(f"{CORE}/share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": DISCRETE}))
    said = command(sdk, ROCM_SDK_ROOTFS=str(machine.root), **variables).stdout
    assert f"verdict  {verdict}\n" in said


# ---- a GPU that the SDK's comgr does not know ----

COMGR = """
#include <stddef.h>
int amd_comgr_get_isa_count(size_t *count) {{ *count = 2; return 0; }}
int amd_comgr_get_isa_name(size_t index, const char **name) {{
    static const char *const names[] = {{"amdgcn-amd-amdhsa--gfx1100", "amdgcn-amd-amdhsa--{last}"}};
    *name = names[index];
    return 0;
}}
"""
ABORTS = (
    "#include <stdlib.h>\nint hipInit(unsigned flags) { abort(); } int hipGetDeviceCount(int *n) { return *n = 0; }"
)


@pytest.mark.parametrize(("last", "codes"), [("gfx1101", {"E-GPU-002"}), ("gfx1200", {"E-GPU-002", "E-GPU-003"})])
def test_gfx1200_and_a_comgr_that_does_not_know_it(sdk: Site, tmp_path: Path, last: str, codes: set[str]) -> None:
    """A problem says that HIP ends each process that sees such a GPU.

    A comgr that knows the GPU is no reason for that.
    """
    comgr = sdk.library("libamd_comgr.so.3", COMGR.format(last=last))
    sdk.library("libamdhip64.so.7", ABORTS, needed=(comgr,))
    install(sdk)
    machine = machine_of(tmp_path / "machine", "gfx1200")
    said = run_test(sdk.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    assert {each["code"] for each in said.problems if each["code"].startswith("E-")} == codes
    found = said.only("E-GPU-002")
    assert "rocm-sdk install" in found["fix"]
    assert [each for each in found["breaks"] if "count" in each] == (
        ["check gpus: HIP's count (it was killed by SIGABRT)"] if len(codes) == 1 else []
    )


@pytest.mark.parametrize(("last", "is_known"), [("gfx1101", False), ("gfx1200", True)])
def test_a_library_that_would_compile_for_gfx1200(sdk: Site, tmp_path: Path, last: str, *, is_known: bool) -> None:
    """MIOpen compiles its kernels by comgr, which does not do so for a target that it does not know."""
    sdk.library("libamd_comgr.so.3", COMGR.format(last=last))
    library(sdk.path / LIBRARIES / "lib/libMIOpen.so.1", [bundle(objects(DISCRETE))])
    install(sdk)
    machine = machine_of(tmp_path / "machine", "gfx1200")
    codes, _ = told(sdk, machine)
    assert codes == (set() if is_known else {"E-GPU-002"})


# ---- targets that are known to compute wrongly ----


def test_gfx1033_is_warned_of(sdk: Site, tmp_path: Path) -> None:
    library(sdk.path / LIBRARIES / "lib/librocblas.so.5", [bundle(objects("gfx1033"))])
    machine = machine_of(tmp_path / "machine", "gfx1033")
    codes, said = told(sdk, machine)
    assert codes == {"W-GPU-034"}
    found = said.only("W-GPU-034")
    assert found["title"] == "gfx1033 is known to compute wrongly"
    assert "training diverges" in found["cause"]
    assert "unsloth 8412" in found["fix"]
    checked = command(sdk, "check-gpu", ROCM_SDK_ROOTFS=str(machine.root))
    assert (checked.returncode, "W-GPU-034: gfx1033 is known to compute wrongly" in checked.stdout) == (0, True)
    assert "W-GPU-034" in command(sdk, "check-gpu", "--gpu", "gfx1033").stdout


def test_gfx1033_that_is_presented_as_gfx1030_stays_what_it_is(sdk: Site, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", "gfx1033")
    codes, _ = told(sdk, machine, HSA_OVERRIDE_GFX_VERSION="10.3.0")
    assert "W-GPU-034" in codes


# ---- products ----

PRODUCTS = {
    0x7551: ("gfx1201", "AMD Radeon AI PRO R9700 / R9600D"),
    0x7481: ("gfx1102", "AMD Radeon Graphics (Steam Machine)"),
    0x749F: ("gfx1102", "AMD Radeon RX 7500"),
    0x7424: ("gfx1034", "AMD Radeon RX 6300"),
    0x74B9: ("gfx942", "AMD Instinct MI325X VF"),
    0x75A8: ("gfx950", "AMD Instinct MI350P"),
    0x7590: ("gfx1200", "AMD Radeon RX 9060 XT / 9060 XT LP / 9060 / 9050"),
    0x1435: ("gfx1033", "AMD Custom GPU 0405 (Steam Deck)"),
    0x163F: ("gfx1033", "AMD Custom GPU 0405 (Steam Deck)"),
    0x1506: ("gfx1036", "AMD Radeon 610M"),
    0x13FE: ("gfx1013", "AMD BC-250"),
}


@pytest.mark.parametrize(("device", "facts"), PRODUCTS.items(), ids=[f"{device:#x}" for device in PRODUCTS])
def test_a_product_by_its_id(tmp_path: Path, device: int, facts: tuple[str, str]) -> None:
    target, name = facts
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, target, device_id=device)
    (gpu,) = _native.gpus(root=machine.root)
    assert (gpu.processor, gpu.name) == (target, name)
