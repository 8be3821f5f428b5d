"""AMD's real libraries, as Debian packages them, in the three shapes: no RPATH, DT_RPATH, DT_RUNPATH."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm
from programs import completed
from sample_site import clean_environment, compile_library, run_python

NAMES = ("amd_comgr", "amdhip64", "rocm_smi64", "hiprand", "hipsparse")

CALLS = f"""
import ctypes, rocm_sdk
rocm_sdk.initialize_process(preload_shortnames={NAMES!r}, check_version="5.*")
version = ctypes.c_int()
assert rocm_sdk._ALL_CDLLS["amdhip64"].hipRuntimeGetVersion(ctypes.byref(version)) == 0
print(version.value)
assert rocm_sdk._ALL_CDLLS["hiprand"].hiprandGetVersion(ctypes.byref(version)) == 0
print(version.value)
"""


def test_calls_into_all_shapes(each_debian_sdk: Path) -> None:
    result = run_python(CALLS, "-W", "error", PYTHONPATH=str(each_debian_sdk))
    assert result.stdout.split() == [rocm().hip_version, rocm().rocrand_version]


def test_rocminfo_starts_by_itself(each_debian_sdk: Path, tmp_path: Path) -> None:
    """It says that there is no driver, or names the GPUs, in the environment of a stranger."""
    program = each_debian_sdk / "_rocm_sdk_core/bin/rocminfo"
    done = completed([program], env=clean_environment(), cwd=tmp_path)
    assert "error while loading shared libraries" not in done.stderr
    assert re.search("ROCk module|HSA System Attributes", done.stdout + done.stderr)


def test_everything_comes_from_the_sdk_though_a_foreign_rocm_is_first(each_debian_sdk: Path, tmp_path: Path) -> None:
    """Libraries of the same SONAMEs in LD_LIBRARY_PATH, which breaks whoever loads them."""
    for soname in ("libhsa-runtime64.so.1", "libhsakmt.so.1", "librocrand.so.1", "libamdhip64.so.5"):
        compile_library(tmp_path / soname, soname, "int this_is_foreign;")
    program = CALLS + 'print(*{line.split()[-1] for line in open("/proc/self/maps") if "/lib" in line}, sep="\\n")'
    result = run_python(program, PYTHONPATH=str(each_debian_sdk), LD_LIBRARY_PATH=str(tmp_path))
    version, random_version, *mapped = result.stdout.splitlines()
    assert (version, random_version) == (rocm().hip_version, rocm().rocrand_version)
    assert not [path for path in mapped if path.startswith(str(tmp_path))]
    assert [path for path in mapped if path.endswith("_rocm_sdk_core/lib/libhsakmt.so.1")]


def test_order_and_members_of_the_plan(debian_sdk: Callable[[str], Path]) -> None:
    program = f"""
import rocm_sdk
plan = rocm_sdk.load_plan(*{NAMES!r})
assert plan.missing == (), plan.missing
for step in plan.steps:
    print(step.shortname, step.method, *(path.rpartition("/")[2] for path in step.members if "sysdeps" not in path))
"""
    without = run_python(program, PYTHONPATH=str(debian_sdk("none"))).stdout.splitlines()
    assert without == [
        "amd_comgr anchor libamd_comgr.so.2",
        "amdhip64 anchor libamdhip64.so.5 libhsa-runtime64.so.1 libhsakmt.so.1",
        "rocm_smi64 open librocm_smi64.so.1",
        "hiprand anchor libhiprand.so.1 librocrand.so.1",
        "hipsparse anchor libhipsparse.so.0 librocsparse.so.0",
    ]
    with_rpath = run_python(program, PYTHONPATH=str(debian_sdk("rpath"))).stdout
    assert "anchor" not in with_rpath


def test_run_time_compilation_with_amdhip64_alone(debian_sdk: Callable[[str], Path]) -> None:
    """ROCm 5.2's amdhip64 opens comgr by name, in no DT_NEEDED entry: without it hiprtcCreateProgram crashes."""
    create = """
import ctypes
program = ctypes.c_void_p()
source = b"extern \\"C\\" __global__ void kernel(float *x) { *x = 1; }"
status = hip.hiprtcCreateProgram(ctypes.byref(program), source, b"kernel.hip", 0, None, None)
print(status, hip.hiprtcDestroyProgram(ctypes.byref(program)))
"""
    ours = "import rocm_sdk\n(library,) = rocm_sdk.preload_libraries('amdhip64')\nhip = rocm_sdk._ALL_CDLLS['amdhip64']"
    result = run_python(ours + create, PYTHONPATH=str(debian_sdk("none")))
    assert result.stdout.split() == ["0", "0"]
    if not rocm().hip_opens_comgr:
        return
    # The same with the NEEDED entries only, to show that the test can fail.
    lib = debian_sdk("none") / "_rocm_sdk_core/lib"
    sysdeps = lib / "rocm_sysdeps/lib"
    order = [sysdeps / "libnuma.so.1", sysdeps / "libdrm.so.2", sysdeps / "libdrm_amdgpu.so.1", lib / "libhsakmt.so.1"]
    bare = "import ctypes\n" + "".join(
        f"hip = ctypes.CDLL('{path}', mode=ctypes.RTLD_GLOBAL)\n"
        for path in [*order, lib / "libhsa-runtime64.so.1", lib / "libamdhip64.so.5"]
    )
    assert run_python(bare + create, check=False).returncode < 0


def test_names_that_c_can_open_afterwards(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    opener = compile_library(
        tmp_path / "opener.so",
        None,
        "#include <dlfcn.h>\nint can_open(const char *name) { return dlopen(name, RTLD_NOW) != 0; }",
    )
    program = f"""
import ctypes, sys, rocm_sdk
can_open = ctypes.CDLL({str(opener)!r}).can_open
rocm_sdk.initialize_process(preload_shortnames={NAMES!r}, unversioned_names=len(sys.argv) > 1)
for library in rocm_sdk.loaded_libraries():
    if not library.requested:
        continue
    soname = library.location.soname.encode()
    assert can_open(soname), soname
    assert can_open(soname.partition(b".so")[0] + b".so") == (len(sys.argv) > 1), soname
print("all")
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    import sys

    for arguments in ([], ["unversioned"]):
        result = completed(
            [sys.executable, str(script), *arguments], env=clean_environment() | {"PYTHONPATH": str(debian_sdk("none"))}
        )
        assert result.stdout.strip() == "all", result.stderr


AMD_SMI = """
int stolen; void *_ZN3amd3smi7RocmSMI11getInstanceEm(unsigned long flags) { (void)flags; stolen++; _exit(3); return 0; }
int rsmi_init(unsigned long flags) { (void)flags; return 22; } int amdsmi_asks(void) { return rsmi_init(0); }
"""


@pytest.mark.parametrize("names", [("rocm_smi64", "amd_smi"), ("amd_smi", "rocm_smi64")])
@pytest.mark.parametrize("rtld_global", [None, True])
def test_rocm_smi_beside_a_library_with_its_functions(
    copy_of_debian_sdk: Callable[[str], Path], names: tuple[str, ...], rtld_global: bool | None
) -> None:
    """The stand-in of libamd_smi calls its own functions by name, and so does the real librocm_smi64 of ROCm 5.2."""
    site = copy_of_debian_sdk("none")
    lib = site / "_rocm_sdk_core/lib"
    compile_library(lib / "libamd_smi.so.26", "libamd_smi.so.26", f"#include <unistd.h>\n{AMD_SMI}")
    ask = "rocm_smi = ctypes.CDLL('librocm_smi64.so.1'); rocm_smi.rsmi_init(ctypes.c_ulong(0))\n"
    ask += "print(ctypes.CDLL('libamd_smi.so.26').amdsmi_asks())"
    ours = f"import ctypes, rocm_sdk\nrocm_sdk.preload_libraries(*{names!r}, rtld_global={rtld_global})\n"
    assert run_python(ours + ask, PYTHONPATH=str(site)).stdout.strip() == "22"
    if not rocm().rocm_smi_calls_by_name and names[0] != "rocm_smi64":
        return
    # The same without the guard, to show that the test can fail.
    files = [str(lib / f"lib{name}.so{'.26' if name == 'amd_smi' else '.1'}") for name in names]
    plain = f"import ctypes\nfor file in {files!r}: ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)\n"
    result = run_python(plain + ask, check=False)
    assert (result.returncode, result.stdout.strip()) != (0, "22")


def test_catalog_and_declaration_agree(debian_sdk: Callable[[str], Path]) -> None:
    """A library that is neither there nor declared absent would break a framework's fixed list."""
    program = """
import rocm_sdk
from rocm_sdk import _native
for row in _native.catalog():
    print(row[0], rocm_sdk.locate(row[0]).found_via)
"""
    found = dict(
        line.split(" ", 1) for line in run_python(program, PYTHONPATH=str(debian_sdk("none"))).stdout.splitlines()
    )
    present = {name for name, how in found.items() if how == "file name"}
    assert present == rocm().shortnames
