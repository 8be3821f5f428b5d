"""A library asks for an executable stack, which glibc refuses from 2.41 on."""

import os
import platform
import sys
from pathlib import Path

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import Site, run_interpreter, run_python

from rocm_sdk import _native
from rocm_sdk.installed.distributions import Distribution

FLAG = ("-Wl,-z,execstack",)
# A nested function whose address is taken: gcc writes a trampoline to the stack.
NESTED = """
int apply(int (*f)(int), int x) { return f(x); }
int hipGetDeviceCount(int *n) { int add(int x) { return x + *n; } return *n = apply(add, 0); }
"""


def fixed(site: Site) -> str:
    """Return the report of `rocm-sdk test --fix` about its changes."""
    result = run_interpreter(
        "-m", "rocm_sdk", "test", "--only", "libraries,files", "--deep", "--fix", check=False, PYTHONPATH=str(site.path)
    )
    assert "Traceback" not in result.stderr
    return result.stderr


def test_the_fix(linked_site: Site) -> None:
    """The flag is gone, RECORD is right, and what shares the file, as the cache of uv does, is as it was."""
    path = linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }", flags=FLAG)
    install(linked_site)
    path.chmod(0o755)
    cached = linked_site.path.parent / "cached"
    os.link(path, cached)
    before = path.read_bytes()
    assert f"cleared the flag for an executable stack of {path}\n" in fixed(linked_site)
    assert cached.read_bytes() == before
    assert not _native.inspect_library(str(path)).executable_stack
    assert path.stat().st_mode & 0o777 == 0o755
    assert sum(one != other for one, other in zip(before, path.read_bytes(), strict=True)) == 1
    after = run_test(linked_site.path, "--only", "libraries,files", "--deep")
    assert after.codes == set()
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".rocm-sdk-")]
    (record,) = linked_site.path.glob("rocm_sdk_core-*.dist-info/RECORD")
    (row,) = (each for each in Distribution(str(record.parent)).files if each.path.endswith("libamdhip64.so.7"))
    assert row.size == len(before)


def test_a_record_that_does_not_list_it(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7", flags=FLAG)
    record = linked_site.path / "other-1.dist-info/RECORD"
    record.parent.mkdir()
    record.write_text("other.py,,\n")
    before = path.read_bytes()
    command = [sys.executable, "-m", "rocm_sdk_build", "clear-execstack", str(path)]
    done = completed([*command, "--record", str(record)])
    assert (done.returncode, done.stdout) == (1, f"{path} is unchanged: {record} does not list it\n")
    for name, told in (("other-1.dist-info", "it is not a regular file; name one"), ("fifo", "it is not a regular")):
        if name == "fifo":
            os.mkfifo(linked_site.path / name)
        done = completed([*command, "--record", str(linked_site.path / name)])
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith(f"{path} is unchanged: {linked_site.path}/{name}: {told}")
    gone = linked_site.path / "gone"
    done = completed([*command, "--record", str(gone)])
    told = f"rocm-sdk-build: {gone}: there is no such file\n  fix: name the RECORD of its distribution\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    assert path.read_bytes() == before


def test_a_library_that_asks_for_none_keeps_its_file(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7")
    before = path.stat()
    command = [sys.executable, "-m", "rocm_sdk_build", "clear-execstack", str(path)]
    done = completed(command)
    assert (done.returncode, done.stdout) == (1, f"{path} is unchanged: it asks for none\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_fix_without_what_writes_libraries(linked_site: Site, tmp_path: Path) -> None:
    """The report says how to install rocm-sdk-build, and nothing is changed."""
    path = linked_site.library("libamdhip64.so.7", flags=FLAG)
    install(linked_site)
    before = path.read_bytes()
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages/rocm_sdk").symlink_to(Path(_native.__file__).parent)
    program = f"import sys; sys.path[:0] = {[str(tmp_path / 'packages'), str(linked_site.path)]!r}\n"
    program += "from rocm_sdk.cli import main; sys.exit(main(['test', '--only', 'libraries', '--fix']))"
    done = completed([sys.executable, "-I", "-S", "-c", program])
    assert f"{path} is unchanged: rocm-sdk-build is not installed: make wheel && " in done.stderr
    assert path.read_bytes() == before


# Refuses to make memory executable that was not, as SELinux does (prctl(2): PR_SET_MDWE, Linux 6.3).
REFUSING = """
import ctypes, sys
import rocm_sdk
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:
    sys.exit(77)
rocm_sdk.preload_libraries("amdhip64")
"""


def test_a_system_that_refuses(linked_site: Site) -> None:
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }", flags=FLAG)
    install(linked_site)
    refused = run_python(REFUSING, check=False, PYTHONPATH=str(linked_site.path))
    if refused.returncode == 77:
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert "libamdhip64.so.7 asks for an executable stack, which this system refuses" in refused.stderr
    assert "fix: rocm-sdk test --fix" in refused.stderr
    fixed(linked_site)
    run_python(REFUSING, PYTHONPATH=str(linked_site.path))


def test_code_that_needs_it_keeps_it(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7", NESTED)
    assert _native.inspect_library(str(path)).executable_stack, "gcc sets the flag by itself"
    install(linked_site)
    before = path.read_bytes()
    said = fixed(linked_site)
    is_told = platform.machine() == "x86_64"  # what needs it is recognised there alone
    assert (f"{path} is unchanged: its code writes to the stack what it executes there" in said) == is_told
    assert (path.read_bytes() == before) == is_told


def test_a_link_becomes_a_file(linked_site: Site, tmp_path: Path) -> None:
    """The target of the link, such as a file in uv's cache, stays as it was."""
    path = linked_site.library("libamdhip64.so.7", flags=FLAG)
    install(linked_site)
    elsewhere = tmp_path / "elsewhere.so"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    fixed(linked_site)
    assert elsewhere.read_bytes() == before
    assert not path.is_symlink()
    assert not _native.inspect_library(str(path)).executable_stack
