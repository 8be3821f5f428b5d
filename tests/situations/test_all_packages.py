"""Each library directory of each package of the SDK counts, last, and none with copies of what a system has."""

import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled_files import compile_file
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
PROGRAM = '#include <stdio.h>\nint answer(void);\nint main(void) { printf("%d\\n", answer()); }'
PROFILER = "_rocm_profiler"
Call = Callable[..., str]


@pytest.fixture
def call(site: Site) -> Call:
    """Return a function that runs the command, and returns its status and the text of both streams."""
    site.library("libamdhip64.so.7", "int hip(void) { return 7; }")

    def run(*words: str | Path, **environment: str) -> str:
        variables = clean_environment() | {"PYTHONPATH": str(site.path)} | environment
        result = completed([SCRIPT, *words], env=variables)
        return f"{result.returncode} {result.stdout}{result.stderr}"

    return run


def program_with(library: Path, path: Path) -> Path:
    """Compile a program without RPATH that needs a library."""
    return compile_file(["cc", "-x", "c", "-", "-x", "none", "-Wl,--allow-shlib-undefined", library], path, PROGRAM)


# Directory of a package -> what a program that needs a library of it answers.
@pytest.mark.parametrize(
    ("package", "directory"),
    [
        (PROFILER, "lib"),
        (PROFILER, "lib/rocprofiler-systems"),
        ("_rocm_sdk_device_gfx1100", "lib"),
        (CORE, "lib/host-math/lib"),
        (LIBRARIES, "lib/hipdnn_plugins/engines"),
    ],
)
def test_a_library_of_another_package(site: Site, call: Call, tmp_path: Path, package: str, directory: str) -> None:
    library = site.library("librocthing.so.1", "int answer(void) { return 42; }", (), package, directory)
    program = program_with(library, tmp_path / "program")
    assert call("run", program) == "0 42\n"
    assert "loads in `rocm-sdk run`; alone it does not find librocthing.so.1" in call("check", program)
    extension = compile_library(
        tmp_path / "extension.so", None, "int answer(void); int own(void) { return answer(); }", (library,)
    )
    load = f"rocm_sdk.preload_for({str(extension)!r}); print(ctypes.CDLL({str(extension)!r}).own())"
    code = f"import ctypes, rocm_sdk; {load}"
    assert site.output(code) == "42", "in a process that calls rocm_sdk"
    second = site.library("librocuser.so.1", "int answer(void) { return 43; }", (library,), PROFILER)
    user = program_with(second, tmp_path / "user")
    assert call("run", user) == "0 43\n", "what that needs, in turn"


def test_the_first_package_with_a_name_counts(site: Site, call: Call, tmp_path: Path) -> None:
    """Core's library is not hidden by another package's, nor by a copy among the tools of one."""
    library = site.library("librocthing.so.1", "int answer(void) { return 42; }")
    site.library("librocthing.so.1", "int answer(void) { return 1; }", (), PROFILER)
    site.library("librocthing.so.1", "int answer(void) { return 2; }", (), PROFILER, "lib/rocprofiler-systems")
    assert call("run", program_with(library, tmp_path / "program")) == "0 42\n"


@pytest.mark.parametrize("place", ["lib/llvm/lib", "lib/rocm_sysdeps/lib"])
def test_copies_of_what_a_system_has_are_for_the_sdk(site: Site, call: Call, tmp_path: Path, place: str) -> None:
    """No program gets another libLLVM, libomp or libelf than it would by itself."""
    for name in ("libLLVM.so.20.0", "libomp.so", "librocm_sysdeps_liblzma.so.5"):
        site.library(name, "int answer(void) { return 1; }", (), CORE, place)
    assert place not in call("run", "printenv", "LD_LIBRARY_PATH")
    own = compile_library(tmp_path / "libomp.so", "libomp.so", "int answer(void) { return 42; }")
    program = program_with(own, tmp_path / "program")
    assert call("run", program, LD_LIBRARY_PATH=str(tmp_path)) == "0 42\n"
    runpath = compile_file(
        ["cc", "-x", "c", "-", "-x", "none", own, "-Wl,-rpath,$ORIGIN"], tmp_path / "with-runpath", PROGRAM
    )
    assert call("run", runpath) == "0 42\n"


def test_a_private_library_that_nothing_else_has(site: Site, call: Call, tmp_path: Path) -> None:
    """A tool that was built against the SDK's LLVM has worked, and works."""
    llvm = site.library("libLLVM.so.20.0", "int answer(void) { return 42; }", (), CORE, "lib/llvm/lib")
    assert call("run", program_with(llvm, tmp_path / "program")) == "0 42\n"
