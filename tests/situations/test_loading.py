"""Libraries that this process or system cannot load, or whose loading kills, waits or takes all memory."""

import os
import platform
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from of_libraries import HIP, ROWS, Fault, chain, section
from own_mounts import mounted, need_mounts
from programs import completed
from sample_device_code import bundle, library, objects
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, run_interpreter, run_python
from situations import flip

from rocm_sdk import _native
from rocm_sdk.doctor.subjects.process import _symbol_versions
from rocm_sdk.installed.distributions import Distribution

PRELOAD = "initialize_process(preload_shortnames=['amdhip64'])"

# ---- memory

# The address space of the process is limited (`ulimit -v`): the files are intact, and nothing is to be reinstalled.
CALL = """
import resource, rocm_sdk
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20), resource.RLIM_INFINITY))
try:
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
except rocm_sdk.LibraryLoadError as error:
    print(error.code, error.message, error.fix, sep="\\n")
"""


def test_the_limit_of_the_address_space_is_named(linked_site: Site) -> None:
    path = linked_site.library(HIP, "char large[64 << 20] = {1};")
    code, message, fix = linked_site.output(CALL).splitlines()
    assert (code, path.stat().st_size > 64 << 20) == ("E-LIB-025", True)
    assert "libamdhip64.so.7 cannot be loaded: there is no memory for it" in message
    assert "the limit of the address space of this process is" in message
    assert "ulimit -v unlimited" in fix


def test_an_import_without_memory() -> None:
    """With each limit the import works, or the error says nothing of an installation."""
    said = set()
    for limit in range(8, 20):

        def lower(size: int = limit << 20) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
            resource.setrlimit(resource.RLIMIT_CPU, (5, 5))  # CPython 3.11 tries for ever to begin with 12 MiB

        done = completed([sys.executable, "-c", "import rocm_sdk"], preexec_fn=lower)
        if "no memory for the extension of rocm_sdk" in done.stderr:
            said.add("words")
        assert not [each for each in ("make wheel", "make develop", "apt-get") if each in done.stderr]
    assert said == {"words"}


# ---- a file that another process changes


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
    os.truncate(path, 0)
    os.truncate(path, 1 << 40)  # a sparse file without end
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


# ---- constructors


def test_a_killing_constructor_is_named_and_the_others_are_loaded(linked_site: Site) -> None:
    """It kills the program that loads libraries for the test: what that had in hand does not count as checked."""
    kill = "#include <signal.h>\n#include <unistd.h>\n__attribute__((constructor)) static void end(void) {"
    linked_site.library("librocprofiler-sdk.so.1", f"{kill} kill(getppid(), SIGKILL); }}")
    for number in range(8):
        linked_site.library(f"libother{number}.so.1")
    install(linked_site)
    said = run_test(linked_site.path, "--only", "libraries")
    assert (said.codes, said.status, said.subject("libraries")["count"]) == ({"E-LIB-021"}, 1, 9)
    found = {each["title"]: each for each in said.problems}
    assert len(found) <= len(os.sched_getaffinity(0))  # what was in hand
    killing = found["librocprofiler-sdk.so.1 could not be checked"]
    assert "was killed by SIGKILL while it loaded this one and perhaps others" in killing["cause"]
    assert killing["fix"] == "rocm-sdk test --only libraries"


# ---- which of several is the cause

_CRASH = "__attribute__((constructor)) static void begin(void) { __builtin_trap(); }"
_DATA = "char data[9] = {1};"


@pytest.mark.parametrize(
    ("explains_more", "breaks"),
    [(False, {"MIOpen (by one of: libamdhip64.so.7, librocblas.so.5)"}), (True, {"MIOpen", "hipblas"})],
    ids=["one of two", "the one that explains more"],
)
def test_two_files_have_other_contents(linked_site: Site, explains_more: bool, breaks: set[str]) -> None:
    """What needs both crashes; a library that needs only the first file crashes, too."""
    hip = linked_site.library(HIP, _DATA)
    blas = linked_site.library("librocblas.so.5", _DATA, package=LIBRARIES)
    linked_site.library("libMIOpen.so.1", _CRASH, (hip, blas), LIBRARIES)
    if explains_more:
        linked_site.library("libhipblas.so.3", _CRASH, (hip,), LIBRARIES)
    install(linked_site)
    for path in (hip, blas):
        flip(path)
    problems = run_test(linked_site.path, "--only", "files,libraries").problems
    found = [each for each in problems if each["code"] == "E-FILE-003"]
    assert {Path(each["path"]) for each in found} == {hip, blas}
    assert {name for each in found for name in each["breaks"] if not name.startswith("check ")} == breaks


def test_a_fifo_in_the_place_of_a_library(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """No permission is missing."""
    hip = linked_site.library(HIP)
    install(linked_site)
    hip.unlink()
    os.mkfifo(hip)
    outcome = attempt(linked_site, PRELOAD)
    assert "is a FIFO where a file is expected" in outcome.message
    assert outcome.fix.startswith(f"Move {hip} away, which is a FIFO, then ")


def test_a_whole_sdk_of_another_machine_may_be_looked_at(linked_site: Site, tmp_path: Path) -> None:
    path = linked_site.library(HIP)
    data = bytearray(path.read_bytes())
    data[18] = 22  # e_machine: S/390
    path.write_bytes(data)
    install(linked_site)
    said = run_test(tmp_path, "--target", str(linked_site.path))
    assert (said.status, said.codes, said.subject("files")["count"] > 3) == (0, {"N-LIB-021"}, True)


# ---- file systems

INIT = "import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main(['init']))"


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Site]:
    """Yield an SDK on a read-only file system, with a development package that is not extracted."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount file systems")
    image, facts = Site(tmp_path / "image"), "rocm_sdk_devel-7.10.0.dist-info"
    image.library(HIP)
    for name in ("__init__.py", "_devel.tar"):
        image.write(f"rocm_sdk_devel/{name}")
    image.write(f"{facts}/METADATA", "Name: rocm-sdk-devel\nVersion: 7.10.0\n")
    image.write(f"{facts}/INSTALLER", "pip\n")
    image.write(f"{facts}/RECORD", f"{facts}/RECORD,,\n")
    place = str(image.path)
    with mounted(image.path, "--bind", place):
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        yield image


@pytest.mark.slow
def test_an_image_is_used_and_not_written_to(image: Site, tmp_path: Path) -> None:
    elsewhere, root = Site(tmp_path / "site-packages"), {"ROCM_SDK_ROOT": str(image.path)}
    loads = "import rocm_sdk; print(rocm_sdk.preload_libraries('amdhip64')[0].location.path)"
    assert elsewhere.output(loads, **root) == f"{image.path}/{CORE}/lib/{HIP}"
    result = elsewhere.run(INIT, check=False, **root)
    assert (result.returncode, result.stderr.splitlines()) == (1, [
        f"rocm-sdk: cannot write to {image.path}: it is on a file system that is mounted read-only [E-DEVEL-008]",
        "  fix: run `rocm-sdk init` before the file system is made of it, or use an SDK in a directory of your own",
    ])  # fmt: skip
    said = run_test(elsewhere.path, "--only", "packages,devel", "--init", **root)
    assert said.document["chosen_by"] == "ROCM_SDK_ROOT"


WITHOUT_PROC = """
mount -t tmpfs none /proc || exit
"$@" && echo unexpected
fix=$("$@" 2>&1 | sed -n 's/^  fix: //p')
echo "fix: $fix"
sh -c "$fix" && "$@"
"""


def test_without_proc(tmp_path: Path) -> None:
    """Files are listed there, and what cannot be written says why."""
    need_mounts()
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942"))])
    code = [sys.executable, "-m", "rocm_sdk", "code", str(path)]
    words = [*code, "--keep", "gfx942", "--output", str(tmp_path / "new.so")]
    done = completed(["unshare", "--mount", "sh", "-c", WITHOUT_PROC, "sh", *words], env=clean_environment())
    assert "new.so cannot be written without /proc: /proc is not mounted here" in done.stderr
    assert "[E-CODE-017]" in done.stderr
    assert "fix: mount -t proc proc /proc" in done.stdout
    assert "unexpected" not in done.stdout
    assert (done.returncode, (tmp_path / "new.so").exists()) == (0, True)


# ---- each fault of libraries has its problem, and the test, an exception and a C program say the same of it


_WORST = "EWN"


@pytest.mark.slow
@pytest.mark.parametrize("fault", ROWS, ids=lambda each: each.name)
def test_a_fault(tmp_path: Path, attempt: Callable[..., Any], c_program: Path, fault: Fault) -> None:
    site = Site(tmp_path / "a library for tests/site-packages", rpath=fault.rpath)
    fault.make(site)
    if not [*site.path.glob("*.dist-info")]:
        install(site)
    said = run_test(site.path, "--only", fault.subjects)
    assert (said.codes, len(said.problems)) == ({*fault.codes.split()}, len(fault.codes.split())), said.problems
    assert said.status == int(any(each["severity"] == "error" for each in said.problems))
    assert fault.untried in str([each["not_tried"] for each in said.document["subjects"]])
    found = min(said.problems, key=lambda each: _WORST.index(each["code"][0]), default=None)
    told = " ".join(str(found[name]) for name in ("title", "cause", "fix", "path")) if found is not None else ""
    assert [each for each in fault.says if each not in told] == [], told
    if found is not None:
        assert {each.replace("check_api:_", "check api: ") for each in fault.breaks.split()} <= {*found["breaks"]}
    if not fault.loads:
        return
    outcome = attempt(site, f"initialize_process(preload_shortnames=[{fault.loads!r}])")
    done = completed([c_program, site.path, fault.loads])
    if found is None:
        assert (outcome.code, done.returncode) == ("", 0), done.stderr
    else:
        assert (outcome.code, outcome.fix) == (found["code"], found["fix"])
        (line,) = re.findall(r"^(?:[EW]-[A-Z]+-\d+ .*)$", done.stderr, re.MULTILINE)
        assert (done.returncode, line) == (1, f"{found['code']} {found['title']}")


@pytest.mark.slow
def test_each_length(tmp_path: Path, attempt: Callable[..., Any]) -> None:
    """A file that ends early is refused, or loads: only tables that the linker does not read were lost."""
    site = Site(tmp_path / "site", rpath="rpath")
    hsa = chain(site, "int number = 8; int hsa_init(void) { return number; }")
    data, end_of_data = hsa.read_bytes(), sum(section(hsa, ".data"))
    for size in range(0, len(data), len(data) // 12):
        hsa.write_bytes(data[:size])
        outcome = attempt(site, "initialize_process(preload_shortnames=['amdhip64'])")
        assert outcome.code == ("E-LIB-006" if size < end_of_data else ""), (size, outcome)


@pytest.mark.slow
def test_c_names_the_command(linked_site: Site, c_program: Path) -> None:
    chain(linked_site).unlink()
    said = completed([c_program, linked_site.path, "hipsparse"]).stderr
    index = "--index-url https://repo.amd.com/rocm/whl-multi-arch/"
    assert said.endswith(f"pip install --force-reinstall --no-deps {index} rocm-sdk-core==7.10.0\n")


# ---- a library asks for an executable stack, which glibc refuses from 2.41 on: `test --fix` clears the flag


FLAG = ("-Wl,-z,execstack",)
CLEAR = [sys.executable, "-m", "rocm_sdk_build", "clear-execstack"]
# A nested function whose address is taken: gcc writes a trampoline to the stack.
NESTED = """
int apply(int (*f)(int), int x) { return f(x); }
int hipGetDeviceCount(int *n) { int add(int x) { return x + *n; } return *n = apply(add, 0); }
"""


@pytest.fixture
def path(linked_site: Site) -> Path:
    """Return a library of an SDK that asks for one, and does not need it."""
    path = linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }", flags=FLAG)
    install(linked_site)
    return path


def fixed(site: Site) -> str:
    """Return the report of `rocm-sdk test --fix` about its changes."""
    words = ("test", "--only", "libraries,files", "--deep", "--fix")
    result = run_interpreter("-m", "rocm_sdk", *words, check=False, PYTHONPATH=str(site.path))
    assert "Traceback" not in result.stderr
    return result.stderr


def test_the_fix(linked_site: Site, path: Path) -> None:
    """The flag is gone, RECORD is right, and what shares the file, as the cache of uv does, is as it was."""
    path.chmod(0o755)
    cached = linked_site.path.parent / "cached"
    os.link(path, cached)
    before = path.read_bytes()
    assert f"cleared the flag for an executable stack of {path}\n" in fixed(linked_site)
    assert cached.read_bytes() == before
    assert not _native.inspect_library(str(path)).executable_stack
    assert path.stat().st_mode & 0o777 == 0o755
    assert sum(one != other for one, other in zip(before, path.read_bytes(), strict=True)) == 1
    assert run_test(linked_site.path, "--only", "libraries,files", "--deep").codes == set()
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".rocm-sdk-")]
    (record,) = linked_site.path.glob("rocm_sdk_core-*.dist-info/RECORD")
    (row,) = (each for each in Distribution(str(record.parent)).files if each.path.endswith("libamdhip64.so.7"))
    assert row.size == len(before)


def test_what_is_not_changed(linked_site: Site, path: Path) -> None:
    """What RECORD does not list, what is no library, and a library that asks for none."""
    other = linked_site.path / "other-1.dist-info"
    linked_site.write("other-1.dist-info/RECORD", "other.py,,\n")
    os.mkfifo(linked_site.path / "fifo")
    (linked_site.path / "link").symlink_to("gone")
    plain = linked_site.library("libplain.so.1")
    before = path.read_bytes(), plain.stat().st_ino, plain.stat().st_mtime_ns
    for words, told in (
        ([path, "--record", other / "RECORD"], f"{path} is unchanged: {other}/RECORD does not list it\n"),
        ([path, "--record", other], f"{path} is unchanged: {other}: it is not a regular file; name one"),
        ([path, "--record", linked_site.path / "fifo"], f"{path} is unchanged: {linked_site.path}/fifo: it is not a"),
        ([other], f"{other} is unchanged: is a directory where a file is expected\n"),
        ([plain], f"{plain} is unchanged: it asks for none\n"),
    ):
        done = completed([*CLEAR, *words])
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith(told)
    for words, fix in (
        ([path, "--record", linked_site.path / "gone"], "name the RECORD of its distribution"),
        ([linked_site.path / "link"], "name an installed library"),
    ):
        done = completed([*CLEAR, *words])
        told = f"rocm-sdk-build: {words[-1]}: there is no such file\n  fix: {fix}\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    assert (path.read_bytes(), plain.stat().st_ino, plain.stat().st_mtime_ns) == before


def test_the_fix_without_what_writes_libraries(linked_site: Site, path: Path, tmp_path: Path) -> None:
    """The report says how to install rocm-sdk-build, and nothing is changed."""
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


@pytest.mark.usefixtures("path")
def test_a_system_that_refuses(linked_site: Site) -> None:
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


def test_a_link_becomes_a_file(linked_site: Site, path: Path, tmp_path: Path) -> None:
    """The target of the link, such as a file in uv's cache, stays as it was."""
    elsewhere = tmp_path / "elsewhere.so"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    fixed(linked_site)
    assert (elsewhere.read_bytes(), path.is_symlink()) == (before, False)
    assert not _native.inspect_library(str(path)).executable_stack
