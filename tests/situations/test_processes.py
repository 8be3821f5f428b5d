"""Libraries that a running process has mixed, replaced or loaded twice, and profilers that LD_PRELOAD brings."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import Said, install, run_test
from sample_site import CORE, LIBRARIES, Site, clean_environment, compile_library, run_interpreter

from rocm_sdk import _native
from rocm_sdk.doctor.awaited_library import waiting
from rocm_sdk.doctor.stuck_libraries import hanging_libraries
from rocm_sdk.installed.view import current

Look = Callable[..., Said]
HIP, PROFILER = "libamdhip64.so.7", "librocprofiler-sdk.so.1"


@pytest.fixture
def look(linked_site: Site, program: Callable[..., int]) -> Look:
    """Return a function that looks at a process which runs some code; it has the SDK's metadata written before."""

    def run(code: str, *words: str, **variables: str) -> Said:
        if not [*linked_site.path.glob("*.dist-info")]:
            install(linked_site)
        preload = {"LD_PRELOAD": words[0]} if words else {}  # of the test
        return run_test(linked_site.path, "--pid", str(program(linked_site.path, code, **variables)), **preload)

    return run


def opens(*paths: object) -> str:
    return f"import ctypes; [ctypes.CDLL(path) for path in {[str(path) for path in paths]!r}]"


def other(tmp_path: Path, soname: str, source: str = "", needed: tuple[Path, ...] = (), directory: str = "lib") -> Path:
    """Compile a library that finds what it needs beside itself or in ../lib, outside of the SDK."""
    place = tmp_path / "other" / directory
    place.mkdir(parents=True, exist_ok=True)
    flags = ("-Wl,--disable-new-dtags,-rpath,$ORIGIN:$ORIGIN/../lib",)
    return compile_library(place / soname, soname, source, needed, flags)


# ---- mixtures and copies


def test_a_foreign_runtime_is_named(linked_site: Site, tmp_path: Path, look: Look) -> None:
    """Each library is there once, and yet it is a mix: HIP of a system-wide ROCm, the math libraries of the SDK."""
    hip = other(tmp_path, HIP)
    sparse = linked_site.library("librocsparse.so.1", package=LIBRARIES)
    said = look(opens(HIP, sparse), LD_LIBRARY_PATH=str(hip.parent))
    assert (said.codes, said.only("W-PROC-002")["path"]) == ({"W-PROC-002"}, str(hip))


def test_the_libraries_of_a_sound_process_are_shown(linked_site: Site, program: Callable[..., int]) -> None:
    path = linked_site.library("librocsparse.so.1", package=LIBRARIES)
    install(linked_site)
    pid = program(linked_site.path, opens(path))
    result = run_interpreter("-m", "rocm_sdk", "test", "--pid", str(pid), check=False, PYTHONPATH=str(linked_site.path))
    assert result.stdout == f"{path}    from the SDK\n\nno problems. Exit status 0.\n"


def test_both_copies_of_amd_smi_are_named(linked_site: Site, tmp_path: Path, look: Look) -> None:
    """The library that brought one by its RPATH is named; nobody has asked for it by its path."""
    ours = linked_site.library("libamd_smi.so.26", "int amdsmi_init;")
    theirs = other(tmp_path, "libamd_smi.so.25", "int amdsmi_init;")
    monitor = other(tmp_path, "libmonitor.so", needed=(theirs,))
    said = look(f"{opens(monitor)}; import rocm_sdk; rocm_sdk.preload_libraries('amd_smi')")
    found = said.only("E-PROC-001")
    assert (said.status, found["title"]) == (1, "the process has two copies of libamd_smi")
    assert str(ours) in found["cause"]
    assert f"{theirs} (the RPATH of libmonitor.so)" in found["cause"]


def test_the_variable_that_has_brought_both(linked_site: Site, tmp_path: Path, look: Look) -> None:
    linked_site.library(HIP)
    old = other(tmp_path, "libamdhip64.so.6", "int hipGetDeviceCount;")
    code = "import ctypes, rocm_sdk; ctypes.CDLL('libamdhip64.so.6'); rocm_sdk.preload_libraries('amdhip64')"
    said = look(code, LD_LIBRARY_PATH=str(old.parent))
    mixed = said.only("W-PROC-002")
    assert (mixed["path"], "(LD_LIBRARY_PATH)" in mixed["cause"]) == (str(old), True)
    assert "Start the program without LD_LIBRARY_PATH" in mixed["fix"]
    assert said.only("E-PROC-001")["title"] == "the process has two copies of libamdhip64"


def test_the_variable_that_leads_to_another_rocm_is_named(linked_site: Site, tmp_path: Path) -> None:
    linked_site.library(HIP)
    system = other(tmp_path, "libamdhip64.so.6", "int hipGetDeviceCount;").parent
    install(linked_site)

    def test(**variables: str) -> Iterable[dict[str, str]]:
        said = run_test(linked_site.path, "--only", "environment", **variables)
        return [each for each in said.problems if each["code"] == "W-ENV-001"]

    own = str(linked_site.path / CORE / "lib")
    assert test(LD_LIBRARY_PATH=own) == []
    (found,) = test(LD_LIBRARY_PATH=f"{system};{own}")  # the linker takes semicolons, too
    assert found["fix"] == f"export LD_LIBRARY_PATH={own}"
    home = str(system.parent.rename(system.parent.with_name("r;m")))  # of other variables no semicolon separates
    assert test(ROCM_PATH=home) != []


def test_a_process_with_a_library_below_a_name_with_a_backslash(linked_site: Site, look: Look) -> None:
    """Of a directory for $ORIGIN: whoever owns the process has chosen it."""
    path = linked_site.path / r"b\q" / "libown.so"
    path.parent.mkdir()
    compile_library(path, "libown.so", flags=("-Wl,-rpath,$ORIGIN/y",))
    assert look(opens(path, linked_site.library(HIP))).codes == set()


# ---- what cannot be looked at


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop its capabilities and have a process of another user")
def test_a_process_that_root_may_not_read(linked_site: Site, program: Callable[..., int]) -> None:
    install(linked_site)
    pid = str(program(linked_site.path, "import os; os.setuid(65534)"))
    command = ["setpriv", "--bounding-set=-all", sys.executable, "-m", "rocm_sdk", "test", "--pid", pid]
    result = completed(command, env=clean_environment())
    assert f"E-PROC-004  process {pid} cannot be looked at" in result.stdout, result.stderr
    assert "--cap-add=SYS_PTRACE" in result.stdout
    assert "a process that runs" not in result.stdout
    absent = run_test(linked_site.path, "--pid", "999999999").only("E-PROC-004")
    assert absent["cause"] == "No such file or directory"


# ---- an SDK that was upgraded while a program uses it


@pytest.mark.parametrize("is_new", [True, False], ids=["another file", "the same file, away for a while"])
def test_replaced_files(linked_site: Site, program: Callable[..., int], is_new: bool) -> None:
    """On a file server, the client drops names and reads them again: the kernel then says "(deleted)", too."""
    path = linked_site.library(HIP)
    install(linked_site)
    process = program(linked_site.path, "import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
    assert run_test(linked_site.path, "--pid", str(process)).codes == set()
    kept, data = linked_site.path.parent / "kept", path.read_bytes()
    kept.hardlink_to(path)
    path.unlink()
    if is_new:
        path.write_bytes(data)
    else:
        path.hardlink_to(kept)
    assert f"{path} (deleted)\n" in Path(f"/proc/{process}/maps").read_text() or is_new
    said = run_test(linked_site.path, "--pid", str(process))
    assert said.codes == ({"E-PROC-003"} if is_new else set())
    if is_new:
        assert (said.problems[0]["path"], said.problems[0]["fix"]) == (str(path), "Start the program again")


# ---- LLVM: a graphics driver's, one that a distribution's comgr needs, and the SDK's


def llvm(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_suffix(".versions")
    script.write_text(f"LLVM_{version} {{ global: LLVMGetVersion; }};")
    flags = (f"-Wl,--version-script={script}",)
    return compile_library(path, path.name, "int LLVMGetVersion(void) { return 1; }", flags=flags)


@pytest.mark.parametrize(("version", "codes"), [("18.1", {"E-PROC-001", "W-PROC-002"}), ("15.0", {"W-PROC-002"})])
def test_only_symbols_of_one_version_collide(
    linked_site: Site, tmp_path: Path, look: Look, version: str, codes: set[str]
) -> None:
    ours = llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.18.1", "18.1")
    theirs = llvm(tmp_path / f"driver/libLLVM-{version.partition('.')[0]}.so.1", version)
    said = look(opens(ours, theirs))
    assert (said.codes, said.only("W-PROC-002")["path"]) == (codes, str(theirs))


@pytest.mark.parametrize("of_sdk", [False, True], ids=["the SDK has none", "the SDK has it"])
def test_what_a_library_of_the_sdk_needs_is_no_mixture(
    linked_site: Site, tmp_path: Path, look: Look, *, of_sdk: bool
) -> None:
    """A distribution's comgr needs the system's libLLVM. One in the place of the SDK's own is another ROCm's."""
    theirs = llvm(tmp_path / "system/libLLVM.so.19.1", "19.1")
    comgr = linked_site.library("libamd_comgr.so.3", needed=(theirs,))
    if of_sdk:
        llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.19.1", "19.1")
    assert look(opens(theirs, comgr)).codes == ({"W-PROC-002"} if of_sdk else set())


@pytest.mark.parametrize("of_sdk", ["libLLVM.so.20.0", None], ids=["another LLVM in the SDK", "none"])
def test_the_llvm_of_a_second_comgr_is_no_other_rocm(
    linked_site: Site, tmp_path: Path, look: Look, of_sdk: str | None
) -> None:
    """The second comgr is: it is named, and its LLVM is not."""
    comgr = other(tmp_path, "libamd_comgr.so.2", needed=(other(tmp_path, "libLLVM.so.19.1", "int llvm;"),))
    needed = (linked_site.library(of_sdk, "int llvm;", directory="lib/llvm/lib"),) if of_sdk else ()
    own = linked_site.library("libamd_comgr.so.3", needed=needed, flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))
    said = look(opens(own, comgr))
    assert [each["path"] for each in said.problems if each["code"] == "W-PROC-002"] == [str(comgr)]


def test_an_llvm_in_the_place_of_the_sdks_own_is_another(linked_site: Site, tmp_path: Path, look: Look) -> None:
    """Under the SDK's SONAME, loaded before: the SDK's comgr gets its functions."""
    theirs = other(tmp_path, "libLLVM.so.20.0", "int llvm;")
    driver = other(tmp_path, "libdriver.so", needed=(theirs,))
    ours = linked_site.library("libLLVM.so.20.0", "int llvm;", directory="lib/llvm/lib")
    own = linked_site.library("libamd_comgr.so.3", needed=(ours,), flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))
    assert look(opens(driver, own)).only("W-PROC-002")["path"] == str(theirs)


# ---- profilers: the text names the tool, and nobody is told not to profile (TheRock 6695)


@pytest.fixture
def profiled(linked_site: Site) -> Site:
    """Return an SDK with a librocprofiler-sdk and the rocprofv3 that belongs to it."""
    linked_site.library(PROFILER, "int rocprofiler_start;")
    for name in (HIP, "libamd_comgr.so.3"):
        linked_site.library(name)
    linked_site.write(f"{CORE}/bin/rocprofv3", "#!/bin/sh\n").chmod(0o755)
    install(linked_site)
    return linked_site


def other_profiler(tmp_path: Path) -> tuple[Path, Path]:
    """Make a profiler of another ROCm: its tool, whose search path leads to its own librocprofiler-sdk."""
    library = other(tmp_path, PROFILER, "int rocprofiler_start;")
    return other(tmp_path, "libtool.so", needed=(library,), directory="tools"), library


PRELOAD = "import rocm_sdk; rocm_sdk.preload_libraries('rocprofiler-sdk', 'amdhip64')"
CHECK = "; print(*(f'{each.code} {each.cause} {each.fix}' for each in rocm_sdk.check_process()), sep='\\n')"


@pytest.mark.parametrize("how", ["tool", "tool and library", "library path"])
def test_6695_the_tool_is_named_by_who_preloads_and_by_check_process(profiled: Site, tmp_path: Path, how: str) -> None:
    """The process's copy is reused, which is right: two providers would be CONFIGURATION_LOCKED."""
    tool, library = other_profiler(tmp_path)
    variables = {"LD_PRELOAD": f"{tool}:{library}" if how == "tool and library" else str(tool)}
    if how == "library path":
        variables["LD_LIBRARY_PATH"] = str(library.parent)
    done = profiled.run(PRELOAD + CHECK, **variables)
    assert f"{PROFILER} is already loaded from " in done.stderr
    assert f"brought in by the profiler {tool}; " in done.stderr
    assert "use the rocprofv3 of this SDK" in done.stderr
    (said,) = done.stdout.splitlines()
    assert said.startswith("W-PROC-002 ") and f"(the profiler {tool})" in said
    own = f"{profiled.path}/{CORE}/bin/rocprofv3"
    assert f"rocm-sdk run rocprofv3 -- PROGRAM  # {own}, the rocprofv3 of this SDK" in said
    assert "without" not in said + done.stderr


def test_6695_two_copies_in_a_process(profiled: Site, tmp_path: Path, look: Look) -> None:
    tool, _ = other_profiler(tmp_path)
    (profiled.path / CORE / "bin/rocprofv3").unlink()
    found = look(opens(profiled.path / CORE / "lib" / PROFILER), LD_PRELOAD=str(tool)).only("E-PROC-001")
    assert f"(the profiler {tool})" in found["cause"]
    assert found["fix"].startswith("Use the rocprofv3 of this SDK")


def test_6695_a_library_that_is_no_tool(profiled: Site, tmp_path: Path) -> None:
    """An allocator in LD_PRELOAD has brought nothing; code of the program has."""
    allocator, library = other(tmp_path, "liballocator.so"), other(tmp_path, PROFILER)
    done = profiled.run(f"import ctypes; ctypes.CDLL({str(library)!r}); {PRELOAD}{CHECK}", LD_PRELOAD=str(allocator))
    assert "brought in by code that ran earlier; " in done.stderr
    assert "(code that ran earlier)" in done.stdout
    assert "profiler " not in done.stdout.replace("rocprofiler", "")


def test_a_profiler_that_is_preloaded_itself(profiled: Site, tmp_path: Path, attempt: Any, look: Look) -> None:
    theirs = other(tmp_path, PROFILER)
    outcome = attempt(profiled, "initialize_process(preload_shortnames=['rocprofiler-sdk'])", LD_PRELOAD=str(theirs))
    assert (outcome.error, str(theirs) in outcome.message) == ("", True)
    found = look(opens(profiled.path / CORE / "lib" / PROFILER), LD_PRELOAD=str(theirs)).only("E-PROC-001")
    assert f"{theirs} (LD_PRELOAD)" in found["cause"]
    assert "Start the program without LD_PRELOAD" in found["fix"]


# ---- two libraries that have, and call, functions of the same names

WHO = "int state = %d; int who(void) { return state; } int ask_%s(void) { return who(); }"


@pytest.fixture
def twins(linked_site: Site) -> tuple[str, str]:
    found = [
        linked_site.library(name, WHO % (number, name[3:-5]))
        for name, number in (("libroctx64.so.4", 1), ("libroctracer64.so.4", 2))
    ]
    install(linked_site)
    return str(found[0]), str(found[1])


def opens_global(*paths: object) -> str:
    return f"import ctypes\nfor path in {[str(each) for each in paths]!r}: ctypes.CDLL(path, ctypes.RTLD_GLOBAL)"


def test_the_plan_tells_it_and_the_fix_mends_it(linked_site: Site, twins: tuple[str, str]) -> None:
    first, second = twins
    found = run_test(linked_site.path, "--only", "bindings").only("W-BIND-001")
    assert found["path"] == second
    assert f"and 1 more binds to {first}, though {second} has it" in found["cause"]
    assert "ROCM_SDK_ISOLATE=roctx64 " in found["fix"]
    mended = run_test(linked_site.path, "--only", "bindings", ROCM_SDK_ISOLATE="roctx64")
    assert (mended.codes, mended.subject("bindings")["count"]) == (set(), 1)


def test_a_process_tells_it(twins: tuple[str, str], look: Look, tmp_path: Path) -> None:
    """ROCM_SDK_ISOLATE decides about the SDK's own files; another one of the same name is opened by others."""
    assert look(opens_global(*twins)).only("W-BIND-001")["path"] == twins[1]
    stranger = other(tmp_path, "libroctx64.so.4", WHO % (3, "stranger"))
    found = look(opens_global(stranger, twins[1])).only("W-BIND-001")
    assert ("ROCM_SDK_ISOLATE" in found["fix"], str(stranger) in found["fix"]) == (False, True)


@pytest.mark.usefixtures("twins")
def test_the_list_of_a_framework_counts(linked_site: Site) -> None:
    linked_site.write("torch/__init__.py")
    call = 'rocm_sdk.initialize_process(preload_shortnames=["roctracer64", "roctx64"], check_version="7.*")'
    linked_site.write("torch/_rocm_init.py", f"import rocm_sdk\n{call}\n")
    said = run_test(linked_site.path, "--only", "bindings")
    assert {Path(each["path"]).name: each["breaks"] for each in said.problems} == {
        "libroctracer64.so.4": ["all libraries"],
        "libroctx64.so.4": ["the libraries that torch preloads"],
    }


REFUSE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
int open(const char *path, int flags, ...) {
    if (strncmp(path, "/proc/", 6) == 0 && strstr(path, "/mem") != NULL) {
        errno = EACCES;
        return -1;
    }
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
"""


def test_a_kernel_that_refuses_is_told(twins: tuple[str, str], look: Look, tmp_path: Path) -> None:
    """As with kernel.yama.ptrace_scope=1: the maps can be read, the memory cannot."""
    refuse = compile_library(tmp_path / "librefuse.so", "librefuse.so", REFUSE)
    cause = look(opens(twins[0]), str(refuse)).only("N-PROC-005")["cause"]
    assert "/mem: Permission denied" in cause
    assert "fix:" not in cause, "the text of another problem, with its fix"


# ---- reports about libraries that do not finish loading: who waits, where, and what for (TheRock 2269)


SMI = "librocm_smi64.so.7"
CONSTRUCTOR = """
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <time.h>
void wait_for_driver(void) {{ for (;;) pause(); }}
__attribute__((constructor)) static void begin(void) {{ {} }}
"""
WAITS = "for (;;) pause();"


@pytest.fixture
def loading() -> Iterator[Callable[..., int]]:
    """Yield a function that starts a program which loads a library for ever, and returns it once it waits there."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, code: str = "import ctypes; ctypes.CDLL({!r})") -> int:
        started.append(subprocess.Popen([sys.executable, "-c", code.format(str(path))], env=clean_environment()))
        pid = started[-1].pid
        deadline = time.monotonic() + 20
        while not any(waits_in(thread, path) for thread in Path(f"/proc/{pid}/task").iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def waits_in(thread: Path, path: Path) -> bool:
    try:
        return any(file == str(path) for file, _ in _native.stack_of_process(int(thread.name)))
    except OSError:
        return False


@pytest.mark.parametrize("thread", [False, True], ids=["first thread", "another thread"])
@pytest.mark.parametrize(
    ("work", "said"),
    [
        (
            "wait_for_driver();",
            "a constructor of {0} waits in pause (libc.so.6), called by wait_for_driver (" + SMI + ")",
        ),
        (WAITS, "{0} waits in its constructor"),
        ("for (;;) usleep(100000);", "{0} waits in its constructor"),
    ],
    ids=["a function with a name", "no name", "between tries"],
)
def test_2269_a_process_that_waits_in_a_constructor(
    site: Site, loading: Callable[..., int], work: str, said: str, *, thread: bool
) -> None:
    """As `rocm-sdk run --watch` tells it. Frames of libc alone are no answer."""
    path = site.library(SMI, CONSTRUCTOR.format(work))
    install(site)
    code = "import ctypes, threading; t = threading.Thread(target=ctypes.CDLL, args=({!r},)); t.start(); t.join()"
    pid = loading(path, code) if thread else loading(path)
    found = run_test(site.path, "--pid", str(pid)).only("E-LIB-008")
    assert (found["path"], found["title"]) == (str(path), f"{SMI} does not finish loading")
    assert found["cause"].startswith(said.format(path)) and "_dl_" not in found["cause"]


def test_2269_a_load_that_goes_on(site: Site, loading: Callable[..., int]) -> None:
    """A constructor that takes its time is no hang: a second look sees something else."""
    path = site.library(SMI, CONSTRUCTOR.format("usleep(200000);"))
    pid = loading(path, "import ctypes, time; ctypes.CDLL({!r}); time.sleep(60)")
    assert list(hanging_libraries(current(), pid)) == []


LIBC, LINKER, APP = "/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/opt/libapp.so"


def test_2269_an_address_of_the_linker_that_was_left_on_the_stack() -> None:
    """Nobody has called dlopen(), and the program has started long ago."""
    calls = [(LIBC, "select"), (APP, "serve"), (LINKER, None), (LIBC, "__libc_start_main")]
    assert waiting(calls) is None
    assert waiting([*calls[:3], (LIBC, "dlopen"), calls[3]]) is not None
    assert waiting(calls[:3], is_first=False) is None
    caller = ("/usr/bin/python3.11", "PyRun_Main")
    left = [(LIBC, "select"), caller, (APP, None), (LINKER, None), (LIBC, "dlopen"), caller]
    assert waiting(left) is None, "the interpreter waits for itself; the calls of an earlier import are left over"
    assert waiting([left[0], *left[2:]]) is not None


# ---- what it waits for ----

OPENS = 'while (open("/dev/kfd", O_RDWR) < 0) usleep(50000);'
LOOKS = 'struct timespec t = {.tv_nsec = 300000000}; while (access("/dev/kfd", F_OK) != 0) nanosleep(&t, 0);'
ASKS, LIKELY = "it waits for /dev/kfd, which is not there", "there is no /dev/kfd here, which is the likely reason"


@pytest.mark.skipif(Path("/dev/kfd").exists(), reason="this machine has the driver")
@pytest.mark.parametrize(
    ("name", "work", "cause"),
    [
        (SMI, OPENS, ASKS),
        ("librccl.so.1", LOOKS, ASKS),
        (SMI, WAITS, LIKELY),
        ("librocfft.so.0", WAITS, "the cause is not known"),
    ],
    ids=["opens", "looks", "of the driver", "another"],
)
def test_2269_a_library_that_waits_for_the_driver(site: Site, name: str, work: str, cause: str) -> None:
    """The calls of the library are observed. The absence of /dev/kfd is the likely reason of what uses the driver."""
    site.library(name, CONSTRUCTOR.format(work))
    install(site)
    found = run_test(site.path, "--only", "libraries", "--seconds", "1").only("E-LIB-008")
    assert found["cause"].startswith("constructors of the library ran for more than 1 s; ") and cause in found["cause"]
    is_of_driver = cause in {ASKS, LIKELY}
    assert (LIKELY in found["cause"], "a machine with a GPU" in found["fix"]) == (cause == LIKELY, is_of_driver)
    assert cause != ASKS or ("the CPU build" in found["fix"] and "there is no /dev/kfd here" in found["fix"])
