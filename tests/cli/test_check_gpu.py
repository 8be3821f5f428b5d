"""`rocm-sdk check-gpu` as its users call it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from sample_device_code import bundle, code_object, compressed, kpack, library, message, objects
from sample_machine import machine_of
from sample_site import CORE, LIBRARIES, Site

Call = Callable[..., subprocess.CompletedProcess[str]]

GFX1151 = {"hipv4-amdgcn-amd-amdhsa--gfx1151": code_object(0x4A)}
GENERIC = {"hipv4-amdgcn-amd-amdhsa--gfx11-generic": code_object(0x54 | 1 << 24, abi=4)}


@pytest.fixture
def lib(sdk: Site) -> Path:
    """Return a directory of libraries with exact code for gfx1151, generic code, and none."""
    directory = sdk.path / LIBRARIES / "lib"
    library(directory / "librocblas.so.5", [bundle(GFX1151 | objects("gfx90a:xnack-"))])
    library(directory / "librocsparse.so.1", [bundle(GENERIC)])
    library(directory / "libhipsparselt.so.0", [bundle(objects("gfx942"))])
    (directory / "libMIOpen.so.1").write_bytes((directory / "libhipsparse.so.1").read_bytes())
    return directory


@pytest.mark.usefixtures("lib")
def test_the_report(call: Call, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine")
    machine.gpu(1, "gfx1151", device_id=0x1586)
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n1586,\t00,\tRadeon 8060S\n")
    machine.write("sys/bus/pci/devices/0000:01:00.0/revision", "0x00\n")
    result = call("check-gpu", ROCM_SDK_ROOTFS=str(machine.root))
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "gfx1151  Radeon 8060S",
        "  amdhip64, hipsparse         ok",
        "  rocblas                     exact code for gfx1151",
        "  rocsparse                   generic code (gfx11-generic)",
        "  miopen                      kernels are compiled at first use; no performance database for gfx1151",
        "  hipsparselt                 NO CODE for this GPU: its kernels fail with hipErrorInvalidDeviceFunction",
        "                              W-CODE-006: hipsparselt: code for gfx942",
        (
            "                              fix: Do without them, or take another SDK: "
            "no package of this one has the code"
        ),
        "not used: 400 bytes of 800 bytes of GPU code: gfx90a:xnack- 200 bytes, gfx942 200 bytes",
    ]
    assert result.stderr == ""


@pytest.mark.usefixtures("lib")
def test_the_fix_names_the_package(call: Call, sdk: Site) -> None:
    text = (
        "__version__ = '7.10.0'\nDEFAULT_TARGET_FAMILY = 'gfx942'\nAVAILABLE_TARGET_FAMILIES = ['gfx942', 'gfx1151']\n"
    )
    text += 'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"\n'
    sdk.write("rocm_sdk_core/_dist_info.py", text)
    result = call("check-gpu", "--gpu", "gfx1151")
    assert "rocm-sdk-device-gfx1151==7.10.0" in result.stdout.splitlines()[-2]


def test_a_library_that_loads_and_has_no_kernels(call: Call, lib: Path) -> None:
    (lib / "libhipsparselt.so.0").unlink()
    library(lib / "libhipblaslt.so.1", [bundle(GFX1151)])
    kernels = lib / "hipblaslt/library/Kernels.so-000-gfx942.hsaco"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(code_object(0x54C, size=64))
    result = call("check-gpu", "--gpu", "gfx1151")
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert "  hipblaslt                   NO KERNELS for this GPU: it loads, and its calls will fail" in lines
    assert "hipblaslt: the library itself has code for it, the files with its kernels have none" in result.stdout


@pytest.mark.parametrize("target", ["gfx1100", None], ids=["for another target", "a stub"])
def test_a_library_that_is_not_built_for_the_gpu(call: Call, lib: Path, target: str | None) -> None:
    """The SDK has no kernels of hipBLASLt for RDNA2: the library is a stub, or for a target that a build needs."""
    for path in lib.iterdir():
        if path.is_file():
            path.unlink()
    library(lib / "librocblas.so.5", [bundle(objects("gfx1030", "gfx942"))])
    library(lib / "libhipblaslt.so.1", [bundle(objects(target))] if target else [])
    said = call("check-gpu", "--gpu", "gfx1030")
    line = "  hipblaslt                   present, calculates nothing for gfx1030, which ROCm does not build it for"
    assert said.stdout.count(line) == 1
    assert "CODE-" not in said.stdout
    assert said.returncode == 0
    verdict = call("check", "--gpu", "gfx1030").stdout
    assert "runs on gfx1030; hipblaslt: present, calculates nothing for it" in verdict
    other = call("check-gpu", "--gpu", "gfx942")
    assert (other.returncode, "CODE-" in other.stdout) == ((1, True) if target else (0, False)), "it is built for this"


def test_that_library_alone(call: Call, tmp_path: Path) -> None:
    app = library(tmp_path / "libhipblaslt.so.1", [bundle(objects("gfx1100"))])
    assert call("check", str(app), "--gpu", "gfx1030").returncode == 1, "it was asked for"


def test_all_is_well(call: Call, lib: Path) -> None:
    (lib / "libhipsparselt.so.0").unlink()
    assert call("check-gpu", "--gpu", "gfx1151").returncode == 0
    assert call("check-gpu", "--gpu", "gfx1151,gfx942").returncode == 1


def test_modes_and_parts(call: Call, lib: Path) -> None:
    library(lib / "librocrand.so.1", [bundle(objects("gfx90a:xnack-")), bundle(objects("gfx90a:xnack-", "gfx1030"))])
    result = call("check-gpu", "--gpu", "gfx90a", "--gpu", "gfx1030")
    assert (
        "  rocblas, rocrand            compatible code (gfx90a:xnack-); none for gfx90a:sramecc-:xnack+,"
        " gfx90a:sramecc+:xnack+" in result.stdout.splitlines()
    )
    assert "  rocrand                     exact code for gfx1030; in 1 of 2 parts" in result.stdout.splitlines()


COMGR = """
#include <stdint.h>
#include <stddef.h>
#include <string.h>
typedef struct { uint64_t handle; } data;
typedef struct { const char *isa; size_t size; uint64_t offset; } info;
int amd_comgr_create_data(int kind, data *made) { made->handle = 1; return kind != 16; }
int amd_comgr_set_data(data of, size_t size, const char *bytes) { return size < 4096 || bytes[0] != '_'; }
int amd_comgr_lookup_code_object(data of, info *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        list[i].size = ACCEPTS(list[i].isa);
        if (list[i].size) break; /* as AMD's: the entry goes to the first */
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("accepts", "said"),
    [
        (
            'strstr(isa, "gfx103") != NULL',
            "  the installed comgr finds code for another processor: it is patched",
        ),
        (
            'strstr(isa, "gfx1030") != NULL',
            "  the installed comgr finds code for the exact target only: it is not patched",
        ),
        ("1", "  the installed comgr could not be asked"),
        ("0", "  the installed comgr could not be asked"),
        (None, "  the installed comgr could not be asked"),
    ],
    ids=["patched", "not patched", "finds code for any processor", "finds none", "not there"],
)
def test_unofficial_code_is_said_to_be(call: Call, lib: Path, sdk: Site, accepts: str | None, said: str) -> None:
    library(lib / "librocrand.so.1", [bundle(objects("gfx1030"))])
    library(lib / "librccl.so.1", [compressed(bundle(objects("gfx1030")), 3)])
    if accepts is not None:
        sdk.library("libamd_comgr.so.3", f"#define ACCEPTS(isa) ({accepts})\n{COMGR}")
    assert "NO CODE" in call("check-gpu", "--gpu", "gfx1031").stdout
    told = call("check-gpu", "--gpu", "gfx1031", "--unofficial").stdout.splitlines()
    line = "best effort: code for gfx1030, which only a patched runtime tries; unofficial"
    assert f"  rocrand                     {line}" in told
    assert f"  rccl                        {line}; it is compressed, which takes a patched comgr" in told
    assert told[-4:-1] == [
        "best effort: nobody promises that such kernels run; they may fail, hang or compute wrong results",
        said,
        "  without a GPU, it is not known whether HIP and ROCr are patched",
    ]


def test_an_archive_that_is_missing(call: Call, lib: Path) -> None:
    marker = message({"kernel_name": "lib/librccl.so.1", "kpack_search_paths": ["../.kpack/rccl_@GFXARCH@.kpack"]})
    text = "".join(f"\\x{byte:02x}" for byte in marker)
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    library(lib / "librccl.so.1", [bundle(objects("gfx942"))], magic=0x4B504948, more=section)
    said = call("check-gpu", "--gpu", "gfx1030").stdout
    assert f"; rccl: {lib}/../.kpack/rccl_gfx1030.kpack is not there or cannot be read" in said
    archive = lib.parent / ".kpack/rccl_gfx1030.kpack"
    archive.parent.mkdir()
    archive.write_bytes(kpack({"lib/other.so#0": {"gfx1030": code_object(0x36)}}))
    assert "; rccl: no kernels of it for this GPU are in" in call("check-gpu", "--gpu", "gfx1030").stdout


def test_a_check_of_nothing_fails(call: Call, tmp_path: Path) -> None:
    nothing = call("check-gpu", "--gpu", "gfx1151")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        "rocm-sdk: nothing was checked: no library with GPU code was found\n",
    )
    without_gpu = call("check-gpu", ROCM_SDK_ROOTFS=str(tmp_path))
    assert (without_gpu.returncode, without_gpu.stdout) == (1, "")
    assert without_gpu.stderr.startswith("rocm-sdk: no GPU to check: ")
    (tmp_path / "file").touch()
    for name, why in (("nowhere", "there is no such directory"), ("file", "is not a directory")):
        refused = call("check-gpu", "--gpu", "gfx1151", "--sdk", str(tmp_path / name))
        assert (refused.returncode, refused.stderr.splitlines()[0]) == (2, f"rocm-sdk: --sdk {tmp_path}/{name}: {why}")


def test_a_damaged_library_fails(call: Call, lib: Path) -> None:
    (lib / "libhipsparselt.so.0").unlink()
    content = (lib / "librocblas.so.5").read_bytes()
    (lib / "librocblas.so.5").write_bytes(content[:4500])
    assert_failed(call("check-gpu", "--gpu", "gfx1151"), 1, f"{lib}/librocblas.so.5: ", "[E-LIB-006]")


def test_for_programs(call: Call, lib: Path) -> None:
    result = call("check-gpu", "--json", "--gpu", "gfx1151", "--sdk", str(lib))
    answer = json.loads(result.stdout)
    (gpu,) = answer["gpus"]
    assert (answer["schema"], gpu["target"], gpu["name"]) == (
        1,
        "gfx1151",
        "AMD Radeon 8065S / 8060S / 8050S / 8040S (Strix Halo)",
    )
    assert {each["name"]: each["verdict"] for each in gpu["libraries"]} == {
        "MIOpen": "compiled at first use",
        "hipsparse": "not needed",
        "hipsparselt": "none",
        "rocblas": "exact",
        "rocsparse": "generic",
    }
    (found,) = gpu["problems"]
    assert (found["code"], found["breaks"], found["facts"]["target"]) == ("E-CODE-001", ["hipsparselt"], "gfx1151")
    assert {each["target"]: each["used"] for each in answer["targets"]}["gfx942"] is False


def test_an_override_counts(call: Call, lib: Path, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", "gfx1103")
    (lib / "libhipsparselt.so.0").unlink()
    variables = {"ROCM_SDK_ROOTFS": str(machine.root), "HSA_OVERRIDE_GFX_VERSION": "11.5.1"}
    result = call("check-gpu", **variables)
    assert (result.returncode, result.stdout.split()[0]) == (0, "gfx1151")
    assert result.stdout.splitlines()[0].endswith(", really gfx1103: HSA_OVERRIDE_GFX_VERSION")


@pytest.mark.parametrize("value", ["", ",", " ; "])
@pytest.mark.parametrize("words", [("check",), ("check", "/bin/true"), ("check-gpu",)], ids=" ".join)
def test_a_list_without_a_name(call: Call, words: tuple[str, ...], value: str) -> None:
    """The value of a variable that is not set: all GPUs would pass."""
    assert_refused(call(*words, "--gpu", value), 1, f"--gpu {value!r} names no target")


def test_core_alone(call: Call, sdk: Site) -> None:
    library(sdk.path / CORE / "lib/librocrand.so.1", [bundle(GFX1151)])
    assert call("check-gpu", "--gpu", "gfx1151").returncode == 0


@pytest.mark.usefixtures("lib")
def test_check_points_to_the_condition_of_the_gpus(call: Call, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine")
    machine.gpu(1, "gfx1151", device_id=0x1586)
    counters = machine.write("sys/bus/pci/devices/0000:01:00.0/ras/umc_err_count", "ue: 0\nce: 0\nde: 0\n")
    line = "condition of the GPUs: 1 problem, see: rocm-sdk gpus --health"
    assert line not in call("check", ROCM_SDK_ROOTFS=str(machine.root)).stdout.splitlines()
    counters.write_text("ue: 1\nce: 0\nde: 0\n")
    assert call("check", ROCM_SDK_ROOTFS=str(machine.root)).stdout.splitlines()[-1] == line
    assert "condition" not in call("check", "--gpu", "gfx1151", ROCM_SDK_ROOTFS=str(machine.root)).stdout
