"""Things that could not be checked: each is a problem, and never passes."""

import os
import resource
import sys
import threading
from pathlib import Path

from programs import completed
from sample_devel import DevelSite
from sample_report import install, run_test
from sample_site import LIBRARIES, Site, clean_environment

from rocm_sdk.base.starting import own_code
from rocm_sdk.doctor.children import run_program
from rocm_sdk.doctor.subjects.process import _symbol_versions

KILLER = """
#include <signal.h>
#include <unistd.h>
__attribute__((constructor)) static void kill_parent(void) { kill(getppid(), SIGKILL); }
"""


def test_a_library_that_kills_what_loads_it(sdk: Site) -> None:
    sdk.library("librocrand.so.1", KILLER, package=LIBRARIES)
    install(sdk)
    said = run_test(sdk.path, "--only", "libraries")
    assert said.codes == {"E-LIB-021"}
    found = [each for each in said.problems if each["code"] == "E-LIB-021"]
    assert "librocrand.so.1 could not be checked" in {each["title"] for each in found}
    assert all("was killed by SIGKILL" in each["cause"] for each in found)
    assert said.subject("libraries")["count"] == 4
    assert said.status == 1


def test_safe_path_keeps_what_the_user_has_set(tmp_path: Path) -> None:
    """With PYTHONSAFEPATH, the first entry is not the current directory."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first/only_there.py").write_text("print('found')\n")
    (tmp_path / "os.py").write_text("raise SystemExit('the current directory')\n")
    code = (
        "import sys; from rocm_sdk.doctor.children import *; from rocm_sdk.base.starting import own_code\n"
        "print(run_program(own_code('import os, sys, only_there; sys.exit(0)'), 30))"
    )
    for safe in ({}, {"PYTHONSAFEPATH": "1"}):
        environment = clean_environment() | {"PYTHONPATH": str(tmp_path / "first")} | safe
        command = [sys.executable, "-c", "import sys\nif sys.path[0] == '': del sys.path[0]\n" + code]
        run = completed(command, env=environment, cwd=tmp_path)
        assert run.stdout.startswith("Ended(status=0, output='found\\n'"), (safe, run)


def test_a_program_finds_this_package() -> None:
    assert run_program(own_code("import rocm_sdk"), 30).status == 0


def test_symbol_versions(tmp_path: Path) -> None:
    """Also of names that lie across the pieces in which the file is read, and of a file that ends early."""
    path = tmp_path / "libLLVM.so.1"
    data = bytearray(b"x" * ((1 << 22) * 2 + 100))
    data[5:16] = b"\0LLVM_17.0\0"
    data[(1 << 22) - 4 : (1 << 22) + 7] = b"\0LLVM_18.1\0"
    data[(1 << 23) - 11 : (1 << 23)] = b"\0LLVM_19.1\0"
    path.write_bytes(data)
    assert _symbol_versions(str(path)) == {b"LLVM_17.0", b"LLVM_18.1", b"LLVM_19.1"}
    assert _symbol_versions(str(tmp_path / "absent")) == set()


def test_a_sparse_file_without_end(tmp_path: Path) -> None:
    path = tmp_path / "libLLVM.so.1"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert _symbol_versions(str(path)) == set()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 1


def test_a_file_that_is_truncated_meanwhile(tmp_path: Path) -> None:
    """A mapping would end this process with SIGBUS."""
    path = tmp_path / "libLLVM.so.1"
    is_over = threading.Event()

    def change() -> None:
        while not is_over.is_set():
            os.truncate(path, 1 << 25)
            os.truncate(path, 0)

    path.write_bytes(b"")
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            assert _symbol_versions(str(path)) == set()
    finally:
        is_over.set()
        thread.join()


def test_a_subject_that_tested_nothing(sdk: Site) -> None:
    """Relative links are a packager's second names, and are not walked; uv's, which are absolute, are."""
    for path in sdk.path.glob("_rocm_sdk_*/lib/*.so*"):
        real = path.with_name(f"{path.name}.real")
        path.rename(sdk.path / real.name)
        path.symlink_to(sdk.path / real.name)
    assert run_test(sdk.path, "--only", "libraries").problems == []
    for path in sdk.path.glob("_rocm_sdk_*/lib/*.so*"):
        path.unlink()
        path.symlink_to(f"../../{path.name}.real")
    found = run_test(sdk.path, "--only", "libraries").only("E-TEST-002")
    assert found["title"] == "the check of libraries tested nothing"
    assert "libraries, and none was loaded" in found["cause"]


def test_our_own_extension_is_no_library_of_an_sdk(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-loader", {"rocm_sdk/_native.abi3.so": b"of the loader"})
    assert "E-TEST-002" not in run_test(tmp_path, "--target", str(site.path)).codes
