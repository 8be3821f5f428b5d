"""The program of a proof: what counts as loaded, and what does not, each in a process of its own."""

import ctypes
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sample_closure import PROVED, closure
from sample_site import compile_library

from rocm_sdk_build.closure.proving.program import Try, in_child

_CONSTRUCTOR = """
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {{ {} }}
"""


def library(directory: Path, body: str) -> Path:
    return compile_library(directory / "libx.so", "libx.so", _CONSTRUCTOR.format(body))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def load(path: Path) -> None:
    ctypes.CDLL(str(path), os.RTLD_NOW)


def why(action: Callable[[], object], *files: Path, seconds: float = 30) -> str | None:
    found = in_child(Try("it", action, list(map(str, files)), seconds))
    return None if found is None else found["why"]


def test_a_library_that_loads(tmp_path: Path) -> None:
    path = library(tmp_path, "")
    assert why(partial(load, path), path) is None


@pytest.mark.parametrize(
    "body",
    ["_exit(0);", "raise(SIGSTOP); _exit(0);", 'for (int i = 0; i < 99; i++) (void)!write(i, "+", 1); _exit(0);'],
    ids=["exit", "stop and exit", "write and exit"],
)
def test_an_early_end_is_no_load(tmp_path: Path, body: str) -> None:
    path = library(tmp_path, body)
    assert str(why(partial(load, path), path)).startswith("its process ended with status 0 before the load returned")


def test_a_status_is_no_load(tmp_path: Path) -> None:
    path = library(tmp_path, "_exit(3);")
    assert why(partial(load, path), path) == "status 3"


def test_a_signal_is_no_load(tmp_path: Path) -> None:
    path = library(tmp_path, 'puts("dying"); fflush(stdout); raise(SIGABRT);')
    assert why(partial(load, path), path) == "ends with signal 6 dying"


def test_what_is_not_in_memory_is_not_loaded(tmp_path: Path) -> None:
    path = library(tmp_path, "")
    assert why(lambda: None, path) == f"the load has returned, and {path} is not in the memory of its process"


def test_a_hanging_constructor_has_a_limit(tmp_path: Path) -> None:
    """And what it has started, too."""
    pids = tmp_path / "pids"
    tells = f'FILE *out = fopen("{pids}", "a"); fprintf(out, "%d\\n", (int)getpid()); fclose(out);'
    path = library(tmp_path, f"fork(); {tells} for (;;) pause();")
    assert why(partial(load, path), path, seconds=0.5) == "did not end within 0.5 s"
    left = [Path(f"/proc/{pid}/stat") for pid in pids.read_text().split()]
    assert len(left) == 2
    wait_until(
        lambda: all(not each.exists() or each.read_text().rpartition(")")[2].split()[0] in "ZX" for each in left)
    )


def test_what_is_refused_is_said(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.write_text("no library")
    assert "file too short" in str(why(partial(load, path), path))


@pytest.mark.slow
def test_a_closure_whose_library_ends_its_process(sdk: Path, tmp_path: Path) -> None:
    application = tmp_path / "application"
    application.mkdir()
    path = library(application, "_exit(0);")
    words = (PROVED, "--library", "hipsparse", "--for", application, "--gpu", "gfx1030", "--output", tmp_path / "out")
    done = closure(sdk, *words, check=False)
    assert done.returncode == 1
    assert f"{path}: its process ended with status 0 before the load returned" in done.stderr
