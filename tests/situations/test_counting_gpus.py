"""Reports about machines with several GPUs, or with one that ROCm does not serve well: what counts, what is said."""

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, library, objects
from sample_machine import Machine, machine_of
from sample_report import Said, install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, run_interpreter

from rocm_sdk import _native

IGPU, DISCRETE = "gfx1036", "gfx1100"
USE = "rocm-sdk run --gpu supported PROGRAM"
CODES = {"E-GPU-002", "W-GPU-034", "W-GPU-035", "N-GPU-036", "E-CODE-001", "E-CODE-002"}


class Sdk(Site):
    """An SDK with code for a discrete GPU, on a machine with some GPUs."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, rpath="rpath")
        self.library("libamd_comgr.so.3")
        (self.path / LIBRARIES / "lib").mkdir(parents=True)
        self.code("librocblas.so.5", DISCRETE)
        self.write(f"{CORE}/share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": DISCRETE}))
        install(self)

    def code(self, soname: str, target: str) -> None:
        library(self.path / LIBRARIES / "lib" / soname, [bundle(objects(target))])

    def on(self, *gpus: str) -> dict[str, str]:
        """Return the variables of a machine with these GPUs."""
        return {"ROCM_SDK_ROOTFS": str(machine_of(self.path.with_name("machine"), *gpus).root)}

    def command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_interpreter("-m", "rocm_sdk", *words, check=False, PYTHONPATH=str(self.path), **variables)

    def told(self, **variables: str) -> tuple[set[str], Said]:
        said = run_test(self.path, "--only", "gpus", **variables)
        return said.codes & CODES, said


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    return Sdk(tmp_path / "site")


def test_an_igpu_beside_a_discrete_gpu(sdk: Sdk) -> None:
    machine = sdk.on(IGPU, DISCRETE)
    codes, said = sdk.told(**machine)
    assert codes == {"W-GPU-035"}
    found = said.only("W-GPU-035")
    assert found["title"] == f"the GPU {IGPU} has no code here, and {DISCRETE} has"
    assert found["fix"].startswith(f"{USE}  # use {DISCRETE}")
    checked = sdk.command("check-gpu", **machine)
    assert (checked.returncode, USE in checked.stdout, "E-GPU-002" in checked.stdout) == (0, True, False)
    document = json.loads(sdk.command("check-gpu", "--json", **machine).stdout)
    assert [[each["code"] for each in gpu["problems"]] for gpu in document["gpus"]] == [["W-GPU-035"], []]
    assert sdk.command("check-gpu", "--gpu", IGPU, **machine).returncode == 1, "who names it is told of it"


@pytest.mark.parametrize("variable", ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"])
def test_an_igpu_that_a_variable_hides(sdk: Sdk, variable: str) -> None:
    """Where the discrete one is hidden, programs get the integrated one alone."""
    machine = sdk.on(IGPU, DISCRETE)
    codes, said = sdk.told(**machine, **{variable: "1"})
    assert codes == {"N-GPU-036"}
    assert said.only("N-GPU-036")["cause"] == f"{variable} hides it from programs"
    checked = sdk.command("check-gpu", **machine, **{variable: "1"})
    assert (checked.returncode, "E-GPU-002" in checked.stdout) == (0, False)
    assert sdk.told(**machine, **{variable: "0"})[0] == {"E-GPU-002"}
    assert sdk.command("check-gpu", **machine, **{variable: "0"}).returncode == 1


@pytest.mark.parametrize("gpus", [(IGPU,), ("gfx1030", DISCRETE)], ids=["alone", "two discrete ones"])
def test_gpus_that_count(sdk: Sdk, gpus: tuple[str, ...]) -> None:
    machine = sdk.on(*gpus)
    codes, said = sdk.told(**machine)
    assert (codes, said.status) == ({"E-GPU-002"}, 1)
    assert f"rocm-sdk install sdk --upgrade --gpu {gpus[0]}" in said.only("E-GPU-002")["fix"]
    assert sdk.command("check-gpu", **machine).returncode == 1


@pytest.mark.parametrize(
    ("gpus", "variables", "verdict"),
    [
        ((IGPU, DISCRETE), {}, f"the SDK was built for the discrete GPU, not for {IGPU}: {USE}"),
        ((IGPU, DISCRETE), {"HIP_VISIBLE_DEVICES": "1"}, "the SDK was built for each usable GPU"),
        ((IGPU,), {}, f"the SDK was not built for {IGPU}"),
        ((), {}, "there is no GPU to run on; no library was looked at"),
    ],
    ids=["both", "hidden", "alone", "none"],
)
@pytest.mark.parametrize("deleted", [True, False], ids=["without HIP", "with HIP"])
def test_the_overview(
    sdk: Sdk, gpus: tuple[str, ...], variables: dict[str, str], verdict: str, *, deleted: bool
) -> None:
    """The overview looks at no library, so it does not say that libraries load; the next command does look."""
    if not deleted:
        sdk.library("libamdhip64.so.7")
    lines = sdk.command(**sdk.on(*gpus), **variables).stdout.splitlines()
    assert f"verdict  {verdict}" in lines and "load" not in verdict


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
def test_gfx1200_and_a_comgr_that_does_not_know_it(sdk: Sdk, last: str, codes: set[str]) -> None:
    """A problem says that HIP ends each process that sees such a GPU. A comgr that knows it is no reason for that.

    MIOpen compiles its kernels by comgr, which does not do so for a target that it does not know.
    """
    comgr = sdk.library("libamd_comgr.so.3", COMGR.format(last=last))
    sdk.library("libamdhip64.so.7", ABORTS, needed=(comgr,))
    install(sdk)
    machine = sdk.on("gfx1200")
    said = run_test(sdk.path, "--only", "gpus", **machine)
    assert {each["code"] for each in said.problems if each["code"].startswith("E-")} == codes
    found = said.only("E-GPU-002")
    assert "rocm-sdk install" in found["fix"]
    count = ["check gpus: HIP's count (it was killed by SIGABRT)"] if len(codes) == 1 else []
    assert [each for each in found["breaks"] if "count" in each] == count
    (sdk.path / LIBRARIES / "lib/librocblas.so.5").unlink()
    sdk.code("libMIOpen.so.1", DISCRETE)
    assert sdk.told(**machine)[0] == (codes - {"E-GPU-003"} if len(codes) == 1 else set())


# ---- targets that are known to compute wrongly, and products ----


def test_gfx1033_is_warned_of(sdk: Sdk) -> None:
    """Also where it is presented as gfx1030."""
    sdk.code("librocblas.so.5", "gfx1033")
    machine = sdk.on("gfx1033")
    codes, said = sdk.told(**machine)
    assert codes == {"W-GPU-034"}
    found = said.only("W-GPU-034")
    assert found["title"] == "gfx1033 is known to compute wrongly"
    assert "training diverges" in found["cause"] and "unsloth 8412" in found["fix"]
    checked = sdk.command("check-gpu", **machine)
    assert (checked.returncode, "W-GPU-034: gfx1033 is known to compute wrongly" in checked.stdout) == (0, True)
    assert "W-GPU-034" in sdk.command("check-gpu", "--gpu", "gfx1033").stdout
    assert "W-GPU-034" in sdk.told(**machine, HSA_OVERRIDE_GFX_VERSION="10.3.0")[0]


PRODUCTS = {
    0x7551: ("gfx1201", "AMD Radeon AI PRO R9700 / R9600D"),
    0x7481: ("gfx1102", "AMD Radeon Graphics (Steam Machine)"),
    0x74B9: ("gfx942", "AMD Instinct MI325X VF"),
    0x1435: ("gfx1033", "AMD Custom GPU 0405 (Steam Deck)"),
    0x13FE: ("gfx1013", "AMD BC-250"),
}


@pytest.mark.parametrize("device", PRODUCTS, ids=hex)
def test_a_product_by_its_id(tmp_path: Path, device: int) -> None:
    target, name = PRODUCTS[device]
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, target, device_id=device)
    (gpu,) = _native.gpus(root=machine.root)
    assert (gpu.processor, gpu.name) == (target, name)


# ---- 1 and 2: on WSL2, the problem of the GPU says whether the SDK has librocdxg, and whether that can be opened


SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(site: Site, tmp_path: Path) -> Call:
    """Return a function that runs `rocm-sdk` on a machine with WSL2's device and no GPU that the kernel knows."""
    machine = tmp_path / "machine"
    (machine / "dev").mkdir(parents=True)
    (machine / "dev/dxg").touch()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        variables = clean_environment() | {"PYTHONPATH": str(site.path), "ROCM_SDK_ROOTFS": str(machine)}
        return completed([SCRIPT, *words], env=variables)

    return run


# The SDK's state -> the statement, and the fix.
@pytest.mark.parametrize(
    ("kind", "said", "fix"),
    [
        ("none", "the SDK 7.10.0 has none", "Install a ROCm that supports WSL (librocdxg)"),
        ("good", "librocdxg.so.1 of the SDK 7.10.0 can be opened", "rocm-sdk run rocminfo"),
        ("refused", "librocdxg.so.1 of the SDK 7.10.0 cannot be opened: ", "rocm-sdk test --only libraries"),
    ],
)
def test_what_the_sdk_has(call: Call, site: Site, kind: str, said: str, fix: str) -> None:
    site.library("libhsa-runtime64.so.1")
    if kind != "none":
        absent = site.library("libdxcore.so") if kind == "refused" else None
        site.library("librocdxg.so.1", needed=(absent,) if absent is not None else ())
        if absent is not None:
            absent.unlink()
    for words in (("gpus",), ("test", "--only", "gpus"), ("gpus", "--arch"), ("gpus", "--health")):
        result = call(*words)
        text = " ".join((result.stdout + result.stderr).split())
        assert said in text, words
        assert fix in text, words
        assert ("needs libdxcore.so, which is not there" in text) == (kind == "refused"), words
    assert said in call("check-gpu").stderr


def test_without_an_sdk(call: Call, site: Site) -> None:
    (site.path / "rocm_sdk_core/_dist_info.py").unlink()
    (site.path / "rocm_sdk_core/__init__.py").unlink()
    assert "Install a ROCm that supports WSL" in call("gpus").stderr


# ---- on WSL2, a GPU that the user names and that librocdxg may not see


# The named targets, dids.conf of the SDK, variables, and the targets of the note.
NAMED = [
    ("gfx1102", None, {}, "gfx1102"),
    ("gfx103X-dgpu,gfx1100", None, {}, "gfx1030, gfx1031, gfx1032, gfx1034"),
    ("gfx90a:xnack+", None, {}, "gfx90a"),
    ("gfx1100,gfx115X-all,gfx120X-all", None, {}, None),
    ("gfx1102", b"# of mine\n0x7480, 11, 0, 2 # RX 7600\n", {}, None),
    ("gfx1102,gfx1030", b"7480,11,0,2\r\n", {}, "gfx1030"),
    ("gfx1102", b"# 7480,11,0,2\n7480,11,0,1\n7480,11,0\n7480,11,0,2,0\n", {}, "gfx1102"),
    ("gfx1102", b"\xff\x00,\x1b[31m,,,\n" + b"9" * 200_000 + b",11,0,2", {}, "gfx1102"),
    ("gfx1102", None, {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}, None),
    ("gfx1030", None, {"LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS": "1"}, None),
    ("gfx1030", None, {"LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS": ""}, "gfx1030"),
]


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case[0])
def test_a_named_gpu_that_librocdxg_may_not_see(
    call: Call, site: Site, monkeypatch: pytest.MonkeyPatch, case: tuple[str, bytes | None, dict[str, str], str | None]
) -> None:
    named, ids, variables, noted = case
    if ids is not None:
        site.write("_rocm_sdk_core/share/rocdxg/dids.conf").write_bytes(ids)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for words in (("check-gpu", "--gpu", named), ("check", "--gpu", named)):
        said = " ".join(call(*words).stderr.split())
        assert said.count("N-GPU-041") == (noted is not None), words
        if noted is not None:
            assert f"under WSL2 ROCm may not see a GPU that is {noted}: the list of GPUs in librocdxg" in said


@pytest.mark.parametrize("pipe", [False, True])
def test_elsewhere_and_with_a_pipe_in_place_of_the_ids(call: Call, site: Site, tmp_path: Path, pipe: bool) -> None:
    if pipe:
        (site.path / "_rocm_sdk_core/share/rocdxg").mkdir(parents=True)
        os.mkfifo(site.path / "_rocm_sdk_core/share/rocdxg/dids.conf")
    else:
        (tmp_path / "machine/dev/dxg").unlink()
    assert ("N-GPU-041" in call("check-gpu", "--gpu", "gfx1102").stderr) is pipe
