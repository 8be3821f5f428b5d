"""HIP and HSA of a system-wide ROCm, the math libraries of the SDK: each library is there once, and yet it is a mix."""

from collections.abc import Callable
from pathlib import Path

from sample_report import install, run_test
from sample_site import LIBRARIES, Site, compile_library, run_interpreter


def test_it_is_named(linked_site: Site, tmp_path: Path, program: Callable[..., int]) -> None:
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
