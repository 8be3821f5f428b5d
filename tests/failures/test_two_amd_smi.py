"""Two copies of libamd_smi in one process: the SDK's, and one that another package brought."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import Site, clean_environment, compile_library


def test_both_are_named(linked_site: Site, tmp_path: Path, program: Callable[..., int]) -> None:
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
