"""Reports about variables that a parent leaves to its children, and that lead them to another ROCm."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_interpreter

from rocm_sdk import _native

# Report, variable, and whether its value is a file (else a directory).
LEADING = {
    "rocm-systems 11807": ("ROCPROFILER_REGISTER_LIBRARY", True),
    "rocprofv3.py:1086": ("ROCP_TOOL_LIBRARIES", True),
    "sdnext 4747": ("ROCBLAS_TENSILE_LIBPATH", False),
    "torchtitan 2491": ("HIPBLASLT_TENSILE_LIBPATH", False),
    "ComfyUI": ("HIPDNN_PLUGIN_DIR", False),
    "rocm-systems 11452": ("ROCM_HOME", False),
    "MIOpen": ("MIOPEN_CK_LIB_PATH", False),
    "RCCL": ("RCCL_ROCR_PATH", False),
    "triton": ("TRITON_LIBHIP_PATH", True),
}
leading = pytest.mark.parametrize(("name", "is_file"), LEADING.values(), ids=LEADING)


@pytest.fixture
def sdk(tmp_path: Path) -> Site:
    site = Site(tmp_path / "site", rpath="rpath")
    site.library("libamdhip64.so.7")
    site.library("libamd_comgr.so.3")
    site.library("librocprofiler-sdk.so.1")
    site.write(f"{LIBRARIES}/lib/rocblas/library/TensileLibrary.dat")
    install(site)
    return site


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return a library of another ROCm."""
    (tmp_path / "rocm/lib").mkdir(parents=True)
    return compile_library(tmp_path / "rocm/lib/libother.so", "libother.so")


def command(site: Site, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", *words, check=False, PYTHONPATH=str(site.path), **variables)


def seen_by_program(site: Site, name: str, **variables: str) -> tuple[str, str]:
    """Return a variable's value in a program that `rocm-sdk run` starts, or "unset", and the command's messages."""
    done = command(site, "run", "sh", "-c", f'echo "${{{name}-unset}}"', **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@leading
def test_a_value_that_leads_out_of_the_sdk(sdk: Site, other: Path, name: str, *, is_file: bool) -> None:
    value = str(other if is_file else other.parent)
    seen, said = seen_by_program(sdk, name, **{name: value})
    assert seen == "unset"
    assert f"{name} leads out of this SDK, to {value}: left out (" in said
    printed = json.loads(command(sdk, "env", "--for", "torch-extension", "--json", **{name: value}).stdout)
    assert name in printed["set"] if name == "ROCM_HOME" else name in printed["unset"]
    found = run_test(sdk.path, "--only", "environment", **{name: value}).only("W-ENV-016")
    assert found["title"] == f"{name} leads out of this SDK"
    assert found["fix"].startswith(f"unset {name}")
    row = next(row for row in _native.inherited_variables() if row[0] == name)
    assert row[3] in found["cause"]
    assert row[4] in found["cause"]


def test_a_file_that_is_gone(sdk: Site, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone/librocprofiler-sdk.so")
    found = run_test(sdk.path, "--only", "environment", ROCPROFILER_REGISTER_LIBRARY=gone).only("W-ENV-016")
    assert f"; there is no {gone}; set by a program that has started HIP" in found["cause"]


def test_what_leads_into_the_sdk_stays(sdk: Site) -> None:
    inside = {
        "ROCPROFILER_REGISTER_LIBRARY": f"{sdk.path}/{CORE}/lib/librocprofiler-sdk.so.1",
        "ROCBLAS_TENSILE_LIBPATH": f"{sdk.path}/{LIBRARIES}/lib/rocblas/library",
        "ROCM_PATH": f"{sdk.path}/{CORE}",
        "HSA_TOOLS_LIB": "librocprofiler64.so.1",  # a name that is searched leads nowhere by itself
    }
    for name, value in inside.items():
        assert seen_by_program(sdk, name, **inside) == (value, "")
    said = run_test(sdk.path, "--only", "environment", **inside)
    assert "W-ENV-016" not in said.codes
    noted = {found["facts"]["variable"] for found in said.problems if found["code"] == "N-ENV-006"}  # type: ignore[index]
    assert noted >= inside.keys() - {"ROCM_PATH"}


def test_a_list_keeps_what_is_of_the_sdk(sdk: Site, other: Path) -> None:
    inside = f"{sdk.path}/{CORE}/lib/librocprofiler-sdk.so.1"
    value = f"{other}:{inside}"
    assert seen_by_program(sdk, "ROCP_TOOL_LIBRARIES", ROCP_TOOL_LIBRARIES=value)[0] == inside
    found = run_test(sdk.path, "--only", "environment", ROCP_TOOL_LIBRARIES=value).only("W-ENV-016")
    assert found["fix"].startswith(f"export ROCP_TOOL_LIBRARIES={inside}")


@pytest.mark.parametrize(
    "name", ["HSA_TOOLS_DISABLE_REGISTER", "HSA_CU_MASK", "ROCPROF_OUTPUT_PATH", "MIOPEN_DEBUG_GEMM"]
)
def test_a_switch_is_named_and_stays(sdk: Site, name: str) -> None:
    assert seen_by_program(sdk, name, **{name: "1"}) == ("1", "")
    said = run_test(sdk.path, "--only", "environment", **{name: "1"})
    (found,) = (each for each in said.problems if each["code"] == "N-ENV-006" and name in each["title"])
    assert "; set by " in found["cause"]


# ---- a profiler that runs now ----

PROFILER = """\
#!/bin/sh
shift
{settings}
"$@"
status=$?
exit $status
"""


@pytest.fixture
def profiled(sdk: Site, other: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that shows a variable of a program, as `rocprofv3 -- rocm-sdk run PROGRAM` sets it."""

    def run(settings: str, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
        rocprofv3 = tmp_path / "bin/rocprofv3"
        rocprofv3.parent.mkdir(exist_ok=True)
        rocprofv3.write_text(PROFILER.format(settings=settings.format(other=other)))
        rocprofv3.chmod(0o755)
        environment = clean_environment() | {"PYTHONPATH": str(sdk.path)} | variables
        words = ["-m", "rocm_sdk", "run", "sh", "-c", f'echo "${{{name}-unset}}"']
        return subprocess.run(
            [rocprofv3, "--", sys.executable, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

    return run


@pytest.mark.parametrize("name", ["ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER_LIBRARY", "HSA_TOOLS_LIB"])
def test_what_a_running_profiler_sets_stays(
    profiled: Callable[..., subprocess.CompletedProcess[str]], other: Path, name: str
) -> None:
    done = profiled(f"export {name}={{other}}", name)
    assert (done.stdout.strip(), done.stderr) == (str(other), "")


def test_what_a_running_profiler_has_from_its_parent_goes(
    profiled: Callable[..., subprocess.CompletedProcess[str]], other: Path
) -> None:
    """The profiler has not set it: it came from the program before."""
    name = "ROCPROFILER_REGISTER_LIBRARY"
    done = profiled("export ROCP_TOOL_LIBRARIES={other}", name, **{name: str(other)})
    assert done.stdout.strip() == "unset"


def test_a_profiler_keeps_only_what_is_of_profilers(
    profiled: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = profiled("export ROCBLAS_TENSILE_LIBPATH={other}", "ROCBLAS_TENSILE_LIBPATH")
    assert done.stdout.strip() == "unset"


def test_a_profiler_that_has_become_the_program(sdk: Site, tmp_path: Path, other: Path) -> None:
    """rocprofv3 calls exec: what shows it is its tool, which LD_PRELOAD has brought into the process."""
    tool = compile_library(other.parent / "librocprofiler-sdk-tool.so", "librocprofiler-sdk-tool.so")
    variables = {"LD_PRELOAD": str(tool), "ROCP_TOOL_LIBRARIES": str(tool)}
    assert seen_by_program(sdk, "ROCP_TOOL_LIBRARIES", **variables) == (str(tool), "")
    assert seen_by_program(sdk, "LD_PRELOAD", **variables)[0] == str(tool)
    gone = tmp_path / "gone/librocprofiler-sdk-tool.so"
    assert seen_by_program(sdk, "ROCP_TOOL_LIBRARIES", **variables | {"LD_PRELOAD": str(gone)})[0] == "unset"
