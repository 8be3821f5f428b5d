"""Reports about libraries that do not finish loading: who waits, where, and what for."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sample_report import install, run_test
from sample_site import Site, clean_environment

from rocm_sdk import _native
from rocm_sdk.doctor.hanging import hanging_libraries
from rocm_sdk.doctor.waiting import waiting
from rocm_sdk.installed.view import current

HEADERS = "#include <errno.h>\n#include <fcntl.h>\n#include <unistd.h>\n#include <time.h>\n"
# Work of a library while it is loaded, and the words about it: {0} is its path.
NAMED = "a constructor of {0} waits in "
UNNAMED = "{0} waits in its constructor"
NAMED_FUNCTION = "void wait_for_driver(void) { for (;;) pause(); }\n"
WAITS = {
    "a function with a name": (
        NAMED_FUNCTION + "__attribute__((constructor)) static void begin(void) { wait_for_driver(); }",
        NAMED + "pause (libc.so.6), called by wait_for_driver (librocm_smi64.so.7)",
    ),
    "no function with a name": (
        "__attribute__((constructor)) static void begin(void) { for (;;) pause(); }",
        UNNAMED,
    ),
    "sleeping between tries": (
        "__attribute__((constructor)) static void begin(void) { for (;;) usleep(100000); }",
        UNNAMED,
    ),
}


@pytest.fixture
def loading() -> Iterator[Callable[..., int]]:
    """Yield a function that starts a program which loads a library for ever.

    The function returns the process ID, once the program waits there.
    """
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
        process.send_signal(signal.SIGKILL)
        process.wait()


def waits_in(thread: Path, path: Path) -> bool:
    try:
        return any(file == str(path) for file, _ in _native.stack_of_process(int(thread.name)))
    except OSError:
        return False


@pytest.mark.parametrize("kind", WAITS)
@pytest.mark.parametrize("thread", [False, True], ids=["first thread", "another thread"])
def test_2269_a_process_that_waits_in_a_constructor(
    site: Site, loading: Callable[..., int], kind: str, *, thread: bool
) -> None:
    """As `rocm-sdk run --watch` tells it. Frames of libc alone are no answer."""
    source, said = WAITS[kind]
    path = site.library("librocm_smi64.so.7", HEADERS + source)
    install(site)
    code = "import ctypes, threading; t = threading.Thread(target=ctypes.CDLL, args=({!r},)); t.start(); t.join()"
    pid = loading(path, code) if thread else loading(path)
    found = run_test(site.path, "--pid", str(pid)).only("E-LIB-008")
    assert found["path"] == str(path)
    assert found["title"] == "librocm_smi64.so.7 does not finish loading"
    assert found["cause"].startswith(said.format(path))
    assert "_dl_" not in found["cause"]


def test_2269_a_load_that_goes_on(site: Site, loading: Callable[..., int]) -> None:
    """A constructor that takes its time is no hang: a second look sees something else."""
    source = "__attribute__((constructor)) static void begin(void) { usleep(200000); }"
    path = site.library("librocm_smi64.so.7", HEADERS + source)
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

ASKS = {
    "open": 'while (open("/dev/kfd", O_RDWR) < 0) usleep(50000);',
    "access": 'struct timespec t = {{.tv_nsec = 300000000}}; while (access("/dev/kfd", F_OK) != 0) nanosleep(&t, 0);',
}
CONSTRUCTOR = "__attribute__((constructor)) static void begin(void) {{ {} }}"
without_driver = pytest.mark.skipif(Path("/dev/kfd").exists(), reason="this machine has the driver")


@without_driver
@pytest.mark.parametrize("name", ["librocm_smi64.so.7", "librccl.so.1"])
@pytest.mark.parametrize("how", ASKS)
def test_2269_a_library_that_asks_for_the_driver(site: Site, name: str, how: str) -> None:
    """The calls of the library are observed, so the cause is no guess."""
    site.library(name, HEADERS + CONSTRUCTOR.format(ASKS[how].replace("{{", "{").replace("}}", "}")))
    install(site)
    found = run_test(site.path, "--only", "libraries", "--seconds", "1").only("E-LIB-008")
    assert (
        found["cause"] == "constructors of the library ran for more than 1 s; it waits for /dev/kfd, which is not there"
    )
    assert "a machine with a GPU" in found["fix"]
    assert "the CPU build" in found["fix"]
    assert "there is no /dev/kfd here" in found["fix"]


@without_driver
@pytest.mark.parametrize(("name", "is_of_driver"), [("librocm_smi64.so.7", True), ("librocfft.so.0", False)])
def test_2269_a_library_that_waits_and_asks_nothing(site: Site, name: str, *, is_of_driver: bool) -> None:
    """The absence of /dev/kfd is the likely reason of a library that uses the driver, and of no other."""
    site.library(name, HEADERS + CONSTRUCTOR.format("for (;;) pause();"))
    install(site)
    found = run_test(site.path, "--only", "libraries", "--seconds", "1").only("E-LIB-008")
    assert ("there is no /dev/kfd here, which is the likely reason" in found["cause"]) is is_of_driver
    assert ("the cause is not known" in found["cause"]) is not is_of_driver
    assert ("a machine with a GPU" in found["fix"]) is is_of_driver
