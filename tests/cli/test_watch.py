"""`rocm-sdk run --watch`: which library a program hangs in, while it loads or ends."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from ended import assert_failed
from sample_site import Site, clean_environment, compile_library, run_interpreter

from rocm_sdk.cli.watch import explained

Call = Callable[..., subprocess.CompletedProcess[str]]

WAIT = "#include <stdlib.h>\n#include <unistd.h>\nvoid wait_for_device(void) { for (;;) pause(); }\n"
CONSTRUCTOR = "__attribute__((constructor)) static void begin(void) { %s }\n"
HANDLER = "static void at_exit(void) { wait_for_device(); }\n"

# Source -> what is told of it.
HANGS = {
    "constructor": (
        WAIT + CONSTRUCTOR % "wait_for_device();",
        "a constructor of {0} waits in ",
    ),
    "exit": (
        WAIT + HANDLER + CONSTRUCTOR % "atexit(at_exit); exit(3);",
        "a constructor of {0} called exit(), and an exit handler of {0} waits in ",
    ),
    "handler": (
        WAIT + HANDLER + CONSTRUCTOR % "atexit(at_exit);",
        "an exit handler of {0} waits in ",
    ),
}


Start = Callable[[list[str], dict[str, str]], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Yield a function that starts programs in sessions of their own, which end with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(words: list[str], variables: dict[str, str]) -> subprocess.Popen[str]:
        environment = clean_environment() | variables
        started.append(
            subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
        )
        return started[-1]

    yield run
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("kind", sorted(HANGS))
def test_the_library_and_the_function_are_named(start: Start, sdk: Site, tmp_path: Path, kind: str) -> None:
    source, told = HANGS[kind]
    library = compile_library(tmp_path / "libhangs.so", "libhangs.so", source)
    load = f"import ctypes; ctypes.CDLL({str(library)!r})"
    words = [sys.executable, "-m", "rocm_sdk", "run", "--watch", "0.3", sys.executable, "-c", load]
    process = start(words, {"PYTHONPATH": str(sdk.path)})
    assert process.stderr is not None
    assert select.select([process.stderr], [], [], 60)[0], "nothing was told"
    line = process.stderr.readline()
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert told.format(library) in line
    assert "hangs for 0.3 s or more: " in line
    assert "wait_for_device (libhangs.so)" in line


LIBC, LINKER, APP = "/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/opt/libapp.so"
# The calls of a thread, the innermost first, and what is said of it.
STACKS = {
    "glibc 2.36": ([(LIBC, "pause"), (APP, "f"), (APP, None), (LINKER, None)], True),
    "glibc 2.41": ([(LIBC, None), (LINKER, None), (LIBC, "pause"), (APP, "f"), (APP, None), (LINKER, None)], True),
    "the linker reads": ([(LINKER, None), (LINKER, "_dl_catch_exception"), (LIBC, "dlopen"), (APP, "f")], False),
    "a program waits": ([(LIBC, None), (LINKER, None), (LIBC, "pause"), ("/bin/app", "main")], False),
}


@pytest.mark.parametrize("name", STACKS)
def test_what_is_a_constructor(name: str) -> None:
    calls, is_one = STACKS[name]
    said = explained(calls)
    assert said == (
        "a constructor of /opt/libapp.so waits in pause (libc.so.6), called by f (libapp.so)" if is_one else None
    )


def test_a_program_that_waits_for_something_else_is_left_alone(call: Call) -> None:
    result = call("run", "--watch", "0.1", sys.executable, "-c", "import time; time.sleep(0.6); raise SystemExit(7)")
    assert (result.returncode, result.stderr) == (7, "")


SIGNAL_AT_THE_END = """
import os, signal
from rocm_sdk.cli.watch import run_watched
take = os.waitpid
def take_then_signal(pid, options):
    ended = take(pid, options)
    if ended[0]:
        signal.raise_signal(signal.SIGTERM)
    return ended
os.waitpid = take_then_signal
raise SystemExit(run_watched(lambda: 7, 60, "program"))
"""


def test_a_signal_when_the_program_has_just_ended() -> None:
    """A signal to both may end the program first: there is nobody to forward it to."""
    done = run_interpreter("-c", SIGNAL_AT_THE_END, check=False)
    assert (done.returncode, done.stderr) == (7, "")


def test_a_program_that_is_not_there(call: Call) -> None:
    assert_failed(call("run", "--watch", "1", "no-such-program"), 127, "no such program")


@pytest.mark.parametrize("seconds", ["0", "x", "nan"])
def test_wrong_seconds(call: Call, seconds: str) -> None:
    result = call("run", "--watch", seconds, "true")
    assert_failed(result, 2, f"argument --watch: not a number of seconds, 0.05 or more: {seconds}")
