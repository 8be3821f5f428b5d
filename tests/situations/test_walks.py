"""Verdicts on files, from the walk behind them: the condition at every depth, places, and whose fault it is."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import command_fixtures
import pytest
from checked_files import Call, codes, compile_library, document, wheel
from compiled_files import compile_file
from linked_sets import in_child, opens, starts
from sample_site import CORE, Site, clean_environment

sdk = command_fixtures.sdk  # without RPATHs: nothing leads to its libraries
GPU = ("--gpu", "gfx1030")
HIP = "int hipInit(unsigned f) { return 0; }"
BIN = command_fixtures.SCRIPT.parent


def program(path: Path, needed: Path, *flags: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed,--allow-shlib-undefined", needed, *flags]
    return compile_file(words, path, "int main(void) { return 0; }")


def distribution(site: Path, name: str, *files: str, version: str = "1", requires: str = "") -> None:
    """Write the metadata of an installed distribution with files."""
    place = f"{name}-{version}.dist-info"
    (site / place).mkdir(parents=True)
    lines = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (site / place / "METADATA").write_text(lines + (f"Requires-Dist: {requires}\n" if requires else ""))
    (site / place / "RECORD").write_text("".join(f"{each},,\n" for each in (*files, f"{place}/METADATA")))


def fix_of(found: dict[str, object], code: str) -> str:
    problems = found["problems"]
    assert isinstance(problems, list)
    return next(str(each["fix"]) for each in problems if each["code"] == code)


def cause_of(found: dict[str, object], code: str) -> str:
    problems = found["problems"]
    assert isinstance(problems, list)
    return next(str(each["cause"]) for each in problems if each["code"] == code)


# ---- where a library lies


def test_a_package_with_the_runpath_of_its_build_machine(call: Call, sdk: Site) -> None:
    """The RUNPATH is the cause, and no package of the system. patchelf is for files that no RECORD has."""
    site, runpath = sdk.path, "-Wl,-rpath,/home/builder/out/lib"
    own = compile_library(
        site / "quick.libs/libquick-9.so.4", "libquick-9.so.4", "", (sdk.path / CORE / "lib/libamdhip64.so.7",)
    )
    compile_library(site / "quick/_core.so", None, "", (own,), (runpath,))
    (site / "quick/__init__.py").touch()
    tool = program(site / "quick/tools/quick-run", own, runpath)
    distribution(site, "quick", "quick/_core.so", "quick/tools/quick-run", "quick.libs/libquick-9.so.4")
    for found in (document(call, "quick", *GPU), document(call, tool, *GPU)):
        assert (found["loads"], codes(found)) == (False, ["E-LIB-004"])
        assert str(own) in cause_of(found, "E-LIB-004") and "/home/builder/out/lib" in cause_of(found, "E-LIB-004")
        variables = clean_environment() | {"PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONPATH": str(site)}
        assert subprocess.run(["sh", "-c", fix_of(found, "E-LIB-004")], env=variables, check=False).returncode == 0
    alone = document(call, site / "quick/_core.so", *GPU)
    assert fix_of(alone, "E-LIB-004").startswith("Import quick before _core.so")


def test_the_condition_at_every_depth(call: Call, tmp_path: Path) -> None:
    """A RUNPATH is not inherited: the program leads to HIP's library, and its library, which needs it, does not."""
    rocm, build = tmp_path / "rocm/core-9.1/lib", tmp_path / "build"
    blas = compile_library(rocm / "libhipblas.so.9", "libhipblas.so.9")
    middle = compile_library(build / "libmodel.so.2", "libmodel.so.2", "", (blas,))
    path = program(build / "server", middle, f"-Wl,-rpath,{build}:{rocm}")
    assert not starts(path)
    for place in (rocm.parent, rocm):
        found = document(call, "--sdk", place, path, *GPU)
        assert found["verdict"] == (
            f"loads with LD_LIBRARY_PATH={rocm}; alone it does not find libhipblas.so.9; no GPU code of its own"
        )
    assert starts(path, LD_LIBRARY_PATH=str(rocm))
    for word in (path, build):
        without = document(call, word, *GPU, PYTHONPATH="")
        assert (without["loads"], codes(without)) == (False, ["E-LIB-004"])
        assert f"the library is in {blas}" in cause_of(without, "E-LIB-004")


def test_a_bundle_that_lacks_a_library(call: Call, tmp_path: Path) -> None:
    """Its own paths lead to HIP: it is judged by these, with an SDK and without, and needs no second HIP."""
    gone = compile_library(tmp_path / "gone/librocprofiler-register.so.0", "librocprofiler-register.so.0")
    hip = compile_library(tmp_path / "app/lib/libamdhip64.so.8", "libamdhip64.so.8", HIP, (gone,))
    path = program(tmp_path / "app/chat", hip, "-Wl,-rpath,$ORIGIN/lib")
    for variables in ({}, {"PYTHONPATH": ""}):
        found = document(call, path, *GPU, **variables)
        assert (found["loads"], codes(found)) == (False, ["E-LIB-002"])
        assert str(hip) in cause_of(found, "E-LIB-002") and "rocm-sdk-core" in cause_of(found, "E-LIB-002")
        assert fix_of(found, "E-LIB-002").startswith("Take another build of chat")
    assert "install:" not in call("check", str(path), *GPU, PYTHONPATH="").stdout


def test_a_library_below_a_private_place(call: Call, tmp_path: Path, sdk: Site) -> None:
    """The loader does not search there, so nothing is promised."""
    deep = compile_library(sdk.path / CORE / "lib/llvm/lib/deep/libdeep.so.2", "libdeep.so.2")
    path = compile_library(tmp_path / "user.so", None, "", (deep,))
    process = document(call, path, *GPU)["process"]
    assert isinstance(process, dict)
    assert (process["shortnames"], process["preload_for"]) == (None, False)
    done = sdk.run(
        f"import ctypes, rocm_sdk; rocm_sdk.preload_for({str(path)!r}); ctypes.CDLL({str(path)!r})", check=False
    )
    assert "libdeep.so.2: cannot open shared object file" in done.stderr


# ---- whose library it is

OF_ROCM = (
    *("librocm-core.so.3", "librocalution.so.2", "libhiptensor.so.1", "librocshmem.so.2", "librdc.so.2"),
    *("librocm-dbgapi.so.1", "librocprofiler-sdk-attach.so.2", "libLLVM.so.24.0git", "libclang-cpp.so.24.0git"),
    *("libvx_rpp.so.4", "librocroller.so.2"),
)
OF_OTHERS = (
    *("librocksdb.so.7", "libamd.so.2", "libhsail-rt.so.0", "libhipercontracer.so.1", "libdrm_amdgpu.so.9"),
    "libLLVM.so.19.1",
)


@pytest.mark.parametrize("name", [*OF_ROCM, *OF_OTHERS])
def test_names_of_rocm_are_no_matter_of_the_distribution(call: Call, tmp_path: Path, name: str) -> None:
    gone = compile_library(tmp_path / f"gone/{name}", name)
    found = document(call, compile_library(tmp_path / "user.so", None, "", (gone,)), *GPU)
    assert codes(found) == ["E-LIB-002"]
    assert ("part of ROCm" in cause_of(found, "E-LIB-002")) == (name in OF_ROCM)
    assert name not in OF_ROCM or not fix_of(found, "E-LIB-002").startswith(
        ("apt-get", "dnf", "pacman", "zypper", "emerge")
    )


def test_functions_of_a_library_that_no_entry_names(call: Call, tmp_path: Path, sdk: Site) -> None:
    """A file that needs no library of the SDK gets the one that has its functions, from preload_for, too."""
    source = "int hip_answer(void); int f(void) { return hip_answer(); }"
    path = compile_library(tmp_path / "librust.so", None, source)
    found = document(call, path, *GPU)
    assert str(found["verdict"]).startswith("loads in a process that has called rocm_sdk (amdhip64); alone it lacks")
    code = "import ctypes, rocm_sdk; print(len(rocm_sdk.preload_for({0!r}))); print(ctypes.CDLL({0!r}).f())"
    assert sdk.run(code.format(str(path))).stdout.split() == ["1", "42"]
    own = compile_library(tmp_path / "libown.so", "libown.so", "int hip_answer(void) { return 1; }")
    other = compile_library(tmp_path / "libother.so", None, source, (own,), ("-Wl,-rpath,$ORIGIN",))
    assert sdk.run(code.format(str(other))).stdout.split() == ["0", "1"]


def test_a_function_that_the_loader_keeps_local(call: Call, tmp_path: Path, sdk: Site) -> None:
    """The library that has it is named; nothing promises a load, as rocm_smi64 is never global."""
    sdk.library("librocm_smi64.so.7", "int rsmi_init(unsigned long f) { return 0; }")
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    source = "int rsmi_init(unsigned long); int f(void) { return rsmi_init(0); }"
    found = document(call, compile_library(tmp_path / "libshm.so", None, source, (hip,)), *GPU)
    assert (found["loads"], codes(found)) == (False, ["E-LIB-020"])
    assert "librocm_smi64.so.7 of the SDK has it, and is not among its DT_NEEDED" in cause_of(found, "E-LIB-020")


@pytest.mark.parametrize("number", [5, 7])
def test_a_hip_outside_the_sdk(call: Call, tmp_path: Path, sdk: Site, number: int) -> None:
    """A HIP that stays beside the SDK's is told before it loads. Where the SDK's has the SONAME, that one answers."""
    other = compile_library(tmp_path / f"rocm/lib/libamdhip64.so.{number}", f"libamdhip64.so.{number}", HIP)
    path = compile_library(tmp_path / "ext.so", None, "", (other,), (f"-Wl,-rpath,{other.parent}",))
    found = document(call, path, *GPU)
    is_told = number == 5
    assert (found["loads"], codes(found)) == (True, ["W-LIB-026"] if is_told else [])
    said = sdk.run(f"import rocm_sdk; rocm_sdk.preload_for({str(path)!r})").stderr
    assert ("a process that loads both has two HIPs" in said) == is_told


# ---- a framework with its own ROCm


def test_a_framework_with_its_own_rocm(call: Call, tmp_path: Path) -> None:
    site, hip = tmp_path / "site", "jaxlike/rocm/libamdhip64.so.9"
    compile_library(site / hip, "libamdhip64.so.9", HIP)
    distribution(site, "jaxlike", hip, version="3.1+rocm9.2")
    words = "jaxlike brings its own ROCm 9.2 (jaxlike/rocm); no SDK is needed"
    bare = call(PYTHONPATH=str(site))
    assert (bare.returncode, words in " ".join(bare.stdout.split())) == (0, True)
    assert call("test", "--only", "packages", PYTHONPATH=str(site)).returncode == 0
    distribution(site, "other", requires="rocm[libraries]>=9")
    assert call(PYTHONPATH=str(site)).returncode == 1
    assert "E-PKG-001" in call("test", "--only", "packages", PYTHONPATH=str(site)).stdout


@pytest.mark.parametrize(("installed", "is_told"), [("2.8.0+rocm9.2", False), ("2.7.1+rocm9.2", True)])
def test_versions_that_torch_and_its_companions_require(call: Call, sdk: Site, installed: str, is_told: bool) -> None:
    distribution(sdk.path, "torch", version=installed)
    compile_library(sdk.path / "torchvision/_C.so", None)
    distribution(sdk.path, "torchvision", "torchvision/_C.so", version="0.23", requires="torch==2.8.0")
    found = document(call, "torchvision", *GPU)
    assert codes(found) == (["W-PKG-027"] if is_told else [])
    assert not is_told or f"torch {installed} is installed" in str(found["problems"])


# ---- the interpreter and the linker


def test_what_the_interpreter_needs_is_in_the_process(call: Call, tmp_path: Path) -> None:
    """A package's library may call libm without naming it; a lone file is judged by its own entries."""
    source = "double cbrt(double); double f(double x) { return cbrt(x); }"
    path = compile_library(tmp_path / "libkernel.so", None, source, (), ("-fno-builtin",))
    assert codes(document(call, path, *GPU)) == ["E-LIB-020"]
    found = document(call, wheel(tmp_path / "sample-1-py3-none-any.whl", {"sample/libkernel.so": path}), *GPU)
    assert found["loads"] is True
    assert "it calls libm.so.6 of the interpreter without a DT_NEEDED entry" in str(found["verdict"])


Change = Callable[[bytearray], None]


def byte(at: int, value: int) -> Change:
    return lambda content: content.__setitem__(at, value)


def header(kind: int, at: int, value: int) -> Change:
    """Return a change of a byte of each program header of a kind."""

    def change(content: bytearray) -> None:
        start, count = int.from_bytes(content[32:40], "little"), int.from_bytes(content[56:58], "little")
        for place in range(start, start + 56 * count, 56):
            if int.from_bytes(content[place : place + 4], "little") == kind:
                content[place + at] = value

    return change


PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
REFUSED: dict[str, Change] = {
    "the version of the identification": byte(6, 2),
    "the version of the file": byte(20, 2),
    "the OS ABI of another system": byte(7, 9),
    "the OS ABI of GNU": byte(7, 3),
    "an ABI version": byte(8, 1),
    "padding": byte(12, 1),
    "a relocatable file": byte(16, 1),
    "the size of program headers": byte(54, 64),
    "no segment to load": header(PT_LOAD, 3, 0x60),
    "no dynamic section": header(PT_DYNAMIC, 3, 0x60),
    "a segment beside its page": header(PT_LOAD, 16, 8),
    "an executable stack": header(PT_GNU_STACK, 4, 7),
    "no header for the stack": header(PT_GNU_STACK, 0, 0),
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_the_linker_refuses_in_any_case(call: Call, tmp_path: Path, change: Change) -> None:
    """The answer is the one of this machine's glibc, for the file and for one that needs it."""
    sound = compile_library(tmp_path / "sound/libx.so.1", "libx.so.1", "int f(void) { return 1; }")
    user = compile_library(tmp_path / "user.so", None, "", (sound,), ("-Wl,-rpath,$ORIGIN",))
    content = bytearray(sound.read_bytes())
    change(content)
    path = tmp_path / "libx.so.1"
    path.write_bytes(content)
    for each in (path, user):
        assert document(call, each, *GPU)["loads"] is (in_child(opens, each) == b"loads")


def test_a_library_that_forbids_dlopen(call: Call, tmp_path: Path) -> None:
    """A program may need it, and no library that is opened."""
    path = compile_library(tmp_path / "libx.so.1", "libx.so.1", "", (), ("-Wl,-z,nodlopen",))
    user = compile_library(tmp_path / "user.so", None, "", (path,), ("-Wl,-rpath,$ORIGIN",))
    tool = program(tmp_path / "tool", path, "-Wl,-rpath,$ORIGIN")
    assert [document(call, each, *GPU)["loads"] for each in (path, user, tool)] == [False, False, True]
