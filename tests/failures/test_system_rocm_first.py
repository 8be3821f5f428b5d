"""A system-wide ROCm comes first in LD_LIBRARY_PATH."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_report import install, run_test
from sample_site import CORE, Site, compile_library


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


def test_the_variable_is_named(linked_site: Site, system: Path) -> None:
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
    assert "start the program without LD_LIBRARY_PATH" in mixed["fix"]
    assert said.only("E-PROC-001")["title"] == "the process has two copies of libamdhip64"
