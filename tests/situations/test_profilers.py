"""Reports about profilers that LD_PRELOAD brings: the text names the tool, and nobody is told not to profile."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_report import install, run_test
from sample_site import CORE, Site, compile_library

PROFILER = "librocprofiler-sdk.so.1"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return an SDK with a librocprofiler-sdk and the rocprofv3 that belongs to it."""
    site = Site(tmp_path / "site", rpath="rpath")
    site.library(PROFILER, "int rocprofiler_start;")
    site.library("libamdhip64.so.7")
    site.library("libamd_comgr.so.3")
    tool = site.write(f"{CORE}/bin/rocprofv3", "#!/bin/sh\n")
    tool.chmod(0o755)
    install(site)
    return site


def other_rocm(directory: Path, tag: str = "--disable-new-dtags") -> tuple[Path, Path]:
    """Make a profiler of another ROCm: its tool, whose search path leads to its own librocprofiler-sdk."""
    for name in ("lib", "tools"):
        (directory / name).mkdir(parents=True)
    library = compile_library(directory / "lib" / PROFILER, PROFILER, "int rocprofiler_start;")
    flags = (f"-Wl,{tag}", "-Wl,-rpath,$ORIGIN/../lib")
    tool = compile_library(directory / "tools/libtool.so", "libtool.so", needed=(library,), flags=flags)
    return tool, library


PRELOAD = "import rocm_sdk; rocm_sdk.preload_libraries('rocprofiler-sdk', 'amdhip64')"
CHECK = "; print(*(f'{each.code} {each.cause} {each.fix}' for each in rocm_sdk.check_process()), sep='\\n')"


@pytest.mark.parametrize("tag", ["--disable-new-dtags", "--enable-new-dtags"])
@pytest.mark.parametrize("how", ["tool", "tool and library", "library path"])
def test_6695_the_tool_is_named_by_who_preloads_and_by_check_process(
    site: Site, tmp_path: Path, tag: str, how: str
) -> None:
    """The process's copy is reused, which is right: two providers would be CONFIGURATION_LOCKED."""
    tool, library = other_rocm(tmp_path / "rocm", tag)
    preloaded = f"{tool}:{library}" if how == "tool and library" else str(tool)
    variables = {"LD_PRELOAD": preloaded}
    if how == "library path":
        variables["LD_LIBRARY_PATH"] = str(library.parent)
    done = site.run(PRELOAD + CHECK, **variables)
    assert f"{PROFILER} is already loaded from " in done.stderr
    assert f"brought in by the profiler {tool}; " in done.stderr
    assert "use the rocprofv3 of this SDK" in done.stderr
    (said,) = done.stdout.splitlines()
    assert said.startswith("W-PROC-002 ")
    assert f"({'the profiler ' + str(tool)})" in said
    assert f"rocm-sdk run rocprofv3 -- PROGRAM  # {site.path}/{CORE}/bin/rocprofv3, the rocprofv3 of this SDK" in said
    assert "without" not in said + done.stderr


def test_6695_two_copies_in_a_process(site: Site, tmp_path: Path, program: Callable[..., int]) -> None:
    """Of other names, so that both are there."""
    tool, _ = other_rocm(tmp_path / "rocm")
    own = site.path / CORE / "lib" / PROFILER
    (site.path / CORE / "bin/rocprofv3").unlink()
    code = f"import ctypes; ctypes.CDLL({str(own)!r})"
    found = run_test(site.path, "--pid", str(program(site.path, code, LD_PRELOAD=str(tool)))).only("E-PROC-001")
    assert f"(the profiler {tool})" in found["cause"]
    assert found["fix"].startswith("Use the rocprofv3 of this SDK")


def test_6695_a_library_that_is_no_tool(site: Site, tmp_path: Path) -> None:
    """An allocator in LD_PRELOAD has brought nothing; code of the program has."""
    other = tmp_path / "other"
    other.mkdir()
    allocator = compile_library(other / "liballocator.so", "liballocator.so")
    library = compile_library(other / PROFILER, PROFILER)
    done = site.run(f"import ctypes; ctypes.CDLL({str(library)!r}); {PRELOAD}{CHECK}", LD_PRELOAD=str(allocator))
    assert "brought in by code that ran earlier; " in done.stderr
    assert "(code that ran earlier)" in done.stdout
    assert "profiler " not in done.stdout.replace("rocprofiler", "")


# ---- a libLLVM of the system, because a second comgr needs it ----


@pytest.mark.parametrize("of_sdk", ["libLLVM.so.20.0", None], ids=["another LLVM in the SDK", "none"])
def test_the_llvm_of_a_second_comgr_is_no_other_rocm(
    site: Site, tmp_path: Path, program: Callable[..., int], of_sdk: str | None
) -> None:
    """The second comgr is: it is named, and its LLVM is not."""
    system = tmp_path / "system"
    system.mkdir()
    llvm = compile_library(system / "libLLVM.so.19.1", "libLLVM.so.19.1", "int llvm;")
    comgr = compile_library(
        system / "libamd_comgr.so.2", "libamd_comgr.so.2", needed=(llvm,), flags=("-Wl,-rpath,$ORIGIN",)
    )
    needed = (site.library(of_sdk, "int llvm;", directory="lib/llvm/lib"),) if of_sdk else ()
    own = site.library("libamd_comgr.so.3", needed=needed, flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))
    install(site)
    code = f"import ctypes; [ctypes.CDLL(path) for path in {[str(own), str(comgr)]!r}]"
    said = run_test(site.path, "--pid", str(program(site.path, code)))
    mixed = [each["path"] for each in said.problems if each["code"] == "W-PROC-002"]
    assert mixed == [str(comgr)]


def test_an_llvm_in_the_place_of_the_sdks_own_is_another(
    site: Site, tmp_path: Path, program: Callable[..., int]
) -> None:
    """Under the SDK's SONAME, loaded before: the SDK's comgr gets its functions."""
    system = tmp_path / "system"
    system.mkdir()
    llvm = compile_library(system / "libLLVM.so.20.0", "libLLVM.so.20.0", "int llvm;")
    driver = compile_library(system / "libdriver.so", "libdriver.so", needed=(llvm,), flags=("-Wl,-rpath,$ORIGIN",))
    ours = site.library("libLLVM.so.20.0", "int llvm;", directory="lib/llvm/lib")
    own = site.library("libamd_comgr.so.3", needed=(ours,), flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))
    install(site)
    code = f"import ctypes; [ctypes.CDLL(path) for path in {[str(driver), str(own)]!r}]"
    said = run_test(site.path, "--pid", str(program(site.path, code)))
    assert said.only("W-PROC-002")["path"] == str(llvm)
