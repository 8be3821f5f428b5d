"""Reports about variables that a parent leaves to its children, and that lead them to another ROCm."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_interpreter

from rocm_sdk import _native

# Variable -> whether its value is a file (else a directory). Each kind of row, and ROCM_HOME, which env sets.
LEADING = {"ROCPROFILER_REGISTER_LIBRARY": True, "ROCBLAS_TENSILE_LIBPATH": False, "ROCM_HOME": False}
LEADING |= {"TRITON_LIBHIP_PATH": True}


@pytest.fixture
def sdk(linked_site: Site) -> Site:
    for name in ("libamdhip64.so.7", "libamd_comgr.so.3", "librocprofiler-sdk.so.1"):
        linked_site.library(name)
    linked_site.write(f"{LIBRARIES}/lib/rocblas/library/TensileLibrary.dat")
    install(linked_site)
    return linked_site


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return a library of another ROCm."""
    (tmp_path / "rocm/lib").mkdir(parents=True)
    return compile_library(tmp_path / "rocm/lib/libother.so", "libother.so")


def command(site: Site, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_interpreter("-m", "rocm_sdk", *words, PYTHONPATH=str(site.path), **variables)


def show(name: str) -> tuple[str, ...]:
    """Return the words of a program that shows a variable, or "unset"."""
    return ("run", "sh", "-c", f'echo "${{{name}-unset}}"')


def seen(site: Site, name: str, **variables: str) -> tuple[str, str]:
    """Return a variable's value in a program that `rocm-sdk run` starts, or "unset", and the command's messages."""
    done = command(site, *show(name), **variables)
    return done.stdout.strip(), done.stderr


def leads_out(site: Site, **variables: str) -> dict[str, str]:
    return run_test(site.path, "--only", "environment", **variables).only("W-ENV-016")


@pytest.mark.parametrize("name", LEADING)
def test_a_value_that_leads_out_of_the_sdk(sdk: Site, other: Path, name: str) -> None:
    value = str(other if LEADING[name] else other.parent)
    shown, said = seen(sdk, name, **{name: value})
    assert shown == "unset"
    assert f"{name} leads out of this SDK, to {value}: left out (" in said
    printed = json.loads(command(sdk, "env", "--for", "torch-extension", "--json", **{name: value}).stdout)
    assert name in printed["set" if name == "ROCM_HOME" else "unset"]
    found = leads_out(sdk, **{name: value})
    assert found["title"] == f"{name} leads out of this SDK"
    assert found["fix"].startswith(f"unset {name}")
    row = next(row for row in _native.inherited_variables() if row[0] == name)
    assert row[3] in found["cause"] and row[4] in found["cause"]


def test_a_file_that_is_gone(sdk: Site, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone/librocprofiler-sdk.so")
    found = leads_out(sdk, ROCPROFILER_REGISTER_LIBRARY=gone)
    assert f"; there is no {gone}; set by a program that has started HIP" in found["cause"]


def test_what_leads_into_the_sdk_stays(sdk: Site, other: Path) -> None:
    inside = {
        "ROCPROFILER_REGISTER_LIBRARY": f"{sdk.path}/{CORE}/lib/librocprofiler-sdk.so.1",
        "ROCBLAS_TENSILE_LIBPATH": f"{sdk.path}/{LIBRARIES}/lib/rocblas/library",
        "ROCM_PATH": f"{sdk.path}/{CORE}",
        "HSA_TOOLS_LIB": "librocprofiler64.so.1",  # a name that is searched leads nowhere by itself
    }
    for name, value in inside.items():
        assert seen(sdk, name, **inside) == (value, "")
    said = run_test(sdk.path, "--only", "environment", **inside)
    assert "W-ENV-016" not in said.codes
    noted = {found["facts"]["variable"] for found in said.problems if found["code"] == "N-ENV-006"}  # type: ignore[index]
    assert noted & inside.keys() == {"HSA_TOOLS_LIB"}
    (sdk.path / CORE / "lib/librocprofiler-sdk.so.1").unlink()
    gone = leads_out(sdk, **inside)
    assert gone["title"] == "ROCPROFILER_REGISTER_LIBRARY leads to nothing in this SDK"
    assert gone["fix"].startswith("unset ROCPROFILER_REGISTER_LIBRARY")
    (sdk.path / CORE / "lib/librocprofiler-sdk.so.1").touch()
    # A list keeps what is of the SDK.
    own = inside["ROCPROFILER_REGISTER_LIBRARY"]
    both = {"ROCP_TOOL_LIBRARIES": f"{other}:{own}"}
    assert seen(sdk, "ROCP_TOOL_LIBRARIES", **both)[0] == own
    assert leads_out(sdk, **both)["fix"].startswith(f"export ROCP_TOOL_LIBRARIES={own}")


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("HSA_TOOLS_DISABLE_REGISTER", ""),
        ("ROCPROF_OUTPUT_PATH", "a child writes over the output of its parent"),
        ("ROCP_TOOL_ATTACH", "reported: workers end"),
    ],
)
def test_a_switch_is_named_and_stays(sdk: Site, name: str, harm: str) -> None:
    assert seen(sdk, name, **{name: "1"}) == ("1", "")
    said = run_test(sdk.path, "--only", "environment", **{name: "1"})
    (found,) = (each for each in said.problems if each["code"] == "N-ENV-006" and name in each["title"])
    assert f"{harm}; set by " in found["cause"]


# ---- a profiler that runs now ----


@pytest.fixture
def profiled(sdk: Site, tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Return a function that shows a variable of a program, as `rocprofv3 -- rocm-sdk run PROGRAM` sets it."""

    def run(settings: str, name: str, **variables: str) -> tuple[str, str]:
        rocprofv3 = tmp_path / "bin/rocprofv3"
        rocprofv3.parent.mkdir(exist_ok=True)
        rocprofv3.write_text(f'#!/bin/sh\nshift\nexport {settings}\n"$@"\nstatus=$?\nexit $status\n')
        rocprofv3.chmod(0o755)
        environment = clean_environment() | {"PYTHONPATH": str(sdk.path)} | variables
        command = [rocprofv3, "--", sys.executable, "-m", "rocm_sdk", *show(name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip(), done.stderr

    return run


@pytest.mark.parametrize("name", ["ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER_LIBRARY", "HSA_TOOLS_LIB"])
def test_what_a_running_profiler_sets_stays(profiled: Callable[..., tuple[str, str]], other: Path, name: str) -> None:
    assert profiled(f"{name}={other}", name) == (str(other), "")


def test_what_a_running_profiler_does_not_set_goes(profiled: Callable[..., tuple[str, str]], other: Path) -> None:
    """What came from the program before, and what is not of profilers."""
    name = "ROCPROFILER_REGISTER_LIBRARY"
    assert profiled(f"ROCP_TOOL_LIBRARIES={other}", name, **{name: str(other)})[0] == "unset"
    assert profiled(f"ROCBLAS_TENSILE_LIBPATH={other}", "ROCBLAS_TENSILE_LIBPATH")[0] == "unset"


def test_a_profiler_that_has_become_the_program(sdk: Site, other: Path) -> None:
    """rocprofv3 calls exec: what shows it is its tool, which LD_PRELOAD has brought into the process."""
    tool = compile_library(other.parent / "librocprofiler-sdk-tool.so", "librocprofiler-sdk-tool.so")
    variables = {"LD_PRELOAD": str(tool), "ROCP_TOOL_LIBRARIES": str(tool)}
    assert seen(sdk, "ROCP_TOOL_LIBRARIES", **variables) == (str(tool), "")
    assert seen(sdk, "LD_PRELOAD", **variables)[0] == str(tool)
    gone = str(tool.with_name("gone") / tool.name)
    assert seen(sdk, "ROCP_TOOL_LIBRARIES", **variables | {"LD_PRELOAD": gone})[0] == "unset"


# ---- the home of ROCm that torch's cpp_extension takes (pytorch 180211, 180723)

# The rule of torch 2.11, in short.
RULE = """\
import os, shutil
hipcc = shutil.which("hipcc")
home = os.environ.get("ROCM_HOME") or os.environ.get("ROCM_PATH")
print(home or (os.path.dirname(os.path.dirname(os.path.realpath(hipcc))) if hipcc else None))
"""


def test_the_root_of_the_environment_is_no_home(tmp_path: Path) -> None:
    root = tmp_path / "env"
    sdk = Site(root / "lib/python3/site-packages", rpath="rpath")
    for name in ("libamdhip64.so.7", "libamd_comgr.so.3"):
        sdk.library(name)
    install(sdk)
    (root / "bin").mkdir()
    (root / "bin/hipcc").write_text("#!/bin/sh\n")
    (root / "bin/hipcc").chmod(0o755)
    path = {"PATH": f"{root}/bin:/usr/bin:/bin"}

    def told(**variables: str) -> list[dict[str, str]]:
        said = run_test(sdk.path, "--only", "environment", **path, **variables)
        return [each for each in said.problems if each["code"] in ("W-ENV-016", "W-ENV-017")]

    assert told() == []  # without torch nobody asks
    (sdk.path / "torch").mkdir()
    for variables in ({}, {"ROCM_HOME": str(root)}, {"ROCM_PATH": f"{root}/"}):
        (found,) = told(**variables)
        assert found["code"] == "W-ENV-017"
        assert found["fix"] == 'eval "$(rocm-sdk env --for torch-extension)"'
        assert next(iter(variables), "hipcc") in found["cause"]
    # The line is carried out: torch's rule then leads to headers.
    (sdk.path / CORE / "include/hip").mkdir(parents=True)
    printed = command(sdk, "env", "--for", "torch-extension", **path).stdout
    line = f'{printed}\nexec {sys.executable} -c "$RULE"'
    done = completed(["bash", "-c", line], env=clean_environment() | path | {"RULE": RULE})
    home = done.stdout.strip()
    assert Path(home, "include/hip").is_dir()
    assert told(ROCM_HOME=home) == []
    before = completed([sys.executable, "-c", RULE], env=clean_environment() | path)
    assert before.stdout.strip() == str(root)
