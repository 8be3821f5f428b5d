"""Libraries that a running process has mixed, replaced or loaded twice."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_interpreter

# HIP and HSA of a system-wide ROCm, the math libraries of the SDK: each library is there once, and yet it is a mix.


def test_a_foreign_runtime_is_named(linked_site: Site, tmp_path: Path, program: Callable[..., int]) -> None:
    system = tmp_path / "opt/rocm/lib"
    system.mkdir(parents=True)
    hip = compile_library(system / "libamdhip64.so.7", "libamdhip64.so.7")
    sparse = linked_site.library("librocsparse.so.1", package=LIBRARIES)
    install(linked_site)
    code = f"import ctypes; ctypes.CDLL('libamdhip64.so.7'); ctypes.CDLL({str(sparse)!r})"
    pid = program(linked_site.path, code, LD_LIBRARY_PATH=str(system))
    said = run_test(linked_site.path, "--pid", str(pid))
    assert said.codes == {"W-PROC-002"}
    assert said.only("W-PROC-002")["path"] == str(hip)


def test_the_libraries_of_a_sound_process_are_shown(linked_site: Site, program: Callable[..., int]) -> None:
    path = linked_site.library("librocsparse.so.1", package=LIBRARIES)
    install(linked_site)
    pid = program(linked_site.path, f"import ctypes; ctypes.CDLL({str(path)!r})")
    result = run_interpreter("-m", "rocm_sdk", "test", "--pid", str(pid), check=False, PYTHONPATH=str(linked_site.path))
    assert result.stdout == f"{path}    from the SDK\n\nno problems. Exit status 0.\n"


def test_both_copies_of_the_profiler_are_named(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], attempt: Callable[..., Any]
) -> None:
    """rocprofiler-sdk was brought by an external profiler before the SDK's own."""
    linked_site.library("librocprofiler-sdk.so.1")
    install(linked_site)
    other = tmp_path / "profiler"
    other.mkdir()
    theirs = compile_library(other / "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.1")
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['rocprofiler-sdk'])", LD_PRELOAD=str(theirs))
    assert outcome.error == ""
    assert str(theirs) in outcome.message
    own = linked_site.path / CORE / "lib/librocprofiler-sdk.so.1"
    code = f"import ctypes; ctypes.CDLL({str(own)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code, LD_PRELOAD=str(theirs))))
    found = said.only("E-PROC-001")
    assert f"{theirs} (LD_PRELOAD)" in found["cause"]
    assert "Start the program without LD_PRELOAD" in found["fix"]


# Two copies of libamd_smi in one process: the SDK's, and one that another package brought.


def test_both_copies_of_amd_smi_are_named(linked_site: Site, tmp_path: Path, program: Callable[..., int]) -> None:
    ours = linked_site.library("libamd_smi.so.26", "int amdsmi_init;")
    install(linked_site)
    other = tmp_path / "amdsmi"
    other.mkdir()
    theirs = compile_library(other / "libamd_smi.so", "libamd_smi.so", "int amdsmi_init;")
    code = f"import ctypes, rocm_sdk; ctypes.CDLL({str(theirs)!r}); rocm_sdk.preload_libraries('amd_smi')"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.status == 1
    found = said.only("E-PROC-001")
    assert found["title"] == "the process has two copies of libamd_smi"
    assert str(ours) in found["cause"]
    assert str(theirs) in found["cause"]


def test_the_library_that_brought_a_copy_is_named(
    linked_site: Site, tmp_path: Path, program: Callable[..., int]
) -> None:
    """By its RPATH: nobody has asked for it by its path."""
    linked_site.library("libamd_smi.so.26")
    install(linked_site)
    other = tmp_path / "other"
    other.mkdir()
    theirs = compile_library(other / "libamd_smi.so.25", "libamd_smi.so.25")
    monitor = compile_library(
        tmp_path / "libmonitor.so", "libmonitor.so", needed=(theirs,), flags=(f"-Wl,-rpath,{other}",)
    )
    code = f"import ctypes, rocm_sdk; ctypes.CDLL({str(monitor)!r}); rocm_sdk.preload_libraries('amd_smi')"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert f"{theirs} (the RPATH of libmonitor.so)" in said.only("E-PROC-001")["cause"]


def test_one_copy_is_fine(linked_site: Site, program: Callable[..., int]) -> None:
    linked_site.library("libamd_smi.so.26")
    linked_site.library("libhiprtc.so.7")
    linked_site.library("libhiprtc-builtins.so.7")
    install(linked_site)
    code = "import rocm_sdk; rocm_sdk.preload_libraries('amd_smi', 'hiprtc', 'hiprtc-builtins')"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert (said.status, said.codes) == (0, set())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop its capabilities and have a process of another user")
def test_a_process_that_root_may_not_read(linked_site: Site, program: Callable[..., int]) -> None:
    install(linked_site)
    pid = str(program(linked_site.path, "import os; os.setuid(65534)"))
    dropped = ["setpriv", "--bounding-set=-all"]
    command = [*dropped, sys.executable, "-m", "rocm_sdk", "test", "--pid", pid]
    result = completed(command, env=clean_environment())
    assert f"E-PROC-004  process {pid} cannot be looked at" in result.stdout, result.stderr
    assert "--cap-add=SYS_PTRACE" in result.stdout
    assert "a process that runs" not in result.stdout


def test_a_process_that_is_not_there(linked_site: Site) -> None:
    install(linked_site)
    found = run_test(linked_site.path, "--pid", "999999999").only("E-PROC-004")
    assert found["cause"] == "No such file or directory"


# A system-wide ROCm comes first in LD_LIBRARY_PATH.


def test_a_process_with_a_library_below_a_name_with_a_backslash(linked_site: Site, program: Callable[..., int]) -> None:
    """Of a directory for $ORIGIN: whoever owns the process has chosen it."""
    path = linked_site.path / r"b\q" / "libown.so"
    path.parent.mkdir()
    compile_library(path, "libown.so", flags=("-Wl,-rpath,$ORIGIN/y",))
    hip = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    code = f"import ctypes; [ctypes.CDLL(name) for name in {[str(path), str(hip)]!r}]"
    assert run_test(linked_site.path, "--pid", str(program(linked_site.path, code))).codes == set()


@pytest.fixture
def system(tmp_path: Path) -> Path:
    directory = tmp_path / "opt/rocm/lib"
    directory.mkdir(parents=True)
    compile_library(directory / "libamdhip64.so.6", "libamdhip64.so.6", "int hipGetDeviceCount;")
    return directory


def test_the_variable_that_leads_to_another_rocm_is_named(linked_site: Site, system: Path) -> None:
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    for variables in ({"LD_LIBRARY_PATH": str(system)}, {"ROCM_PATH": str(system.parent)}):
        (variable,) = variables
        found = run_test(linked_site.path, "--only", "environment", **variables).only("W-ENV-001")
        assert found["title"] == f"{variable} leads to another ROCm"
        assert f"{system} holds libamdhip64.so.6 too" in found["cause"]
        assert found["fix"].startswith(f"unset {variable}")
    own = str(linked_site.path / CORE / "lib")
    assert "W-ENV-001" not in run_test(linked_site.path, "--only", "environment", LD_LIBRARY_PATH=own).codes
    several = {"LD_LIBRARY_PATH": f"{system};{own}"}  # the linker takes semicolons, too
    found = run_test(linked_site.path, "--only", "environment", **several).only("W-ENV-001")
    assert found["fix"] == f"export LD_LIBRARY_PATH={own}"
    home = str(system.parent.rename(system.parent.with_name("r;m")))  # of other variables no semicolon separates
    assert "W-ENV-001" in run_test(linked_site.path, "--only", "environment", ROCM_PATH=home).codes


def test_the_process_that_has_both(linked_site: Site, system: Path, program: Callable[..., int]) -> None:
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    code = "import ctypes, rocm_sdk; ctypes.CDLL('libamdhip64.so.6'); rocm_sdk.preload_libraries('amdhip64')"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code, LD_LIBRARY_PATH=str(system))))
    mixed = said.only("W-PROC-002")
    assert mixed["path"] == f"{system}/libamdhip64.so.6"
    assert "(LD_LIBRARY_PATH)" in mixed["cause"]
    assert "Start the program without LD_LIBRARY_PATH" in mixed["fix"]
    assert said.only("E-PROC-001")["title"] == "the process has two copies of libamdhip64"


# A graphics driver's libLLVM and the SDK's in one process.


def llvm(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_suffix(".versions")
    script.write_text(f"LLVM_{version} {{ global: LLVMGetVersion; }};")
    flags = (f"-Wl,--version-script={script}",)
    return compile_library(path, path.name, "int LLVMGetVersion(void) { return 1; }", flags=flags)


@pytest.mark.parametrize(("version", "codes"), [("18.1", {"E-PROC-001", "W-PROC-002"}), ("15.0", {"W-PROC-002"})])
def test_only_symbols_of_one_version_collide(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], version: str, codes: set[str]
) -> None:
    install(linked_site)
    ours = llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.18.1", "18.1")
    theirs = llvm(tmp_path / f"driver/libLLVM-{version.partition('.')[0]}.so.1", version)
    code = f"import ctypes; ctypes.CDLL({str(ours)!r}); ctypes.CDLL({str(theirs)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.codes == codes
    assert said.only("W-PROC-002")["path"] == str(theirs)


@pytest.mark.parametrize("of_sdk", [False, True], ids=["the SDK has none", "the SDK has it"])
def test_what_a_library_of_the_sdk_needs_is_no_mixture(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], *, of_sdk: bool
) -> None:
    """A distribution's comgr needs the system's libLLVM.

    A libLLVM in the place of the SDK's own is another ROCm's.
    """
    theirs = llvm(tmp_path / "system/libLLVM.so.19.1", "19.1")
    comgr = linked_site.library("libamd_comgr.so.3", needed=(theirs,))
    if of_sdk:
        llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.19.1", "19.1")
    install(linked_site)
    code = f"import ctypes; ctypes.CDLL({str(theirs)!r}); ctypes.CDLL({str(comgr)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.codes == ({"W-PROC-002"} if of_sdk else set())


# The SDK was upgraded while a program runs that uses it.


def test_the_replaced_files_are_named(linked_site: Site, program: Callable[..., int]) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    process = program(linked_site.path, "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
    assert run_test(linked_site.path, "--pid", str(process)).codes == set()
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    said = run_test(linked_site.path, "--pid", str(process))
    found = said.only("E-PROC-003")
    assert found["path"] == str(path)
    assert found["fix"] == "Start the program again"


def test_a_name_that_was_away_for_a_while(linked_site: Site, program: Callable[..., int]) -> None:
    """As on a file server, whose client drops names and reads them again: the kernel then says "(deleted)"."""
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    process = program(linked_site.path, "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
    other = linked_site.path.parent / "other"
    other.hardlink_to(path)
    path.unlink()
    path.hardlink_to(other)
    assert f"{path} (deleted)\n" in Path(f"/proc/{process}/maps").read_text()
    assert run_test(linked_site.path, "--pid", str(process)).codes == set()
