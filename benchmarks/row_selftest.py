"""The row `selftest`: loading each library in its own process, beside a Python process for each and a bare C loop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from rocm_sdk.doctor.load_results import load_all
from rocm_sdk.installed.view import at

from .figures import Figure, Target, figure, in_turn, ratio
from .observation import ProcessError
from .stage import SOURCES, Stage

PARALLEL = 2
SECONDS = 60  # time limit of each library
_OPEN = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row; raise ProcessError if one of the libraries cannot be loaded."""
    directory = stage.directory / "selftest"
    directory.mkdir()
    bare = directory / "fork_dlopen"
    source = str(SOURCES / "fork_dlopen.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", source, "-o", str(bare), "-ldl"], check=True)
    return _many(stage, directory) + _sdk(stage, bare)


def _many(stage: Stage, directory: Path) -> list[Figure]:
    """Return the figures of tiny libraries: the time of a process."""
    first = directory / "lib0.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(first)], input=b"int x;", check=True)
    paths = [
        str(first),
        *(str(shutil.copy(first, directory / f"lib{i}.so")) for i in range(1, 10 if stage.is_smoke else 200)),
    ]
    runs: dict[str, Callable[[], float]] = {
        "ours": partial(_load_all, paths),
        "python": partial(_run_each, [sys.executable, "-I", "-c", _OPEN], paths),
    }
    ms = _milliseconds(in_turn(stage.rounds(7), runs))
    what = f"loading {len(paths)} libraries, each in a process of its own"
    return [
        figure(what, "ms", ms["ours"]),
        ratio(
            "a Python process for each takes as many times as long", ms["python"], ms["ours"], Target("at least", 30)
        ),
    ]


def _sdk(stage: Stage, bare: Path) -> list[Figure]:
    site = stage.environment(stage.shapes[-1]).site
    paths = [each.path for each in at(str(site)).shared_objects]
    directories = ":".join(dict.fromkeys(str(Path(path).parent) for path in paths))
    runs: dict[str, Callable[[], float]] = {
        "ours": partial(_load_all, paths, directories),
        "bare": partial(_run, [str(bare), str(PARALLEL), *paths], directories),
    }
    ms = _milliseconds(in_turn(stage.rounds(21), runs))
    return [
        figure(f"loading the {len(paths)} libraries of the SDK", "ms", ms["ours"]),
        ratio("beside a bare C loop of fork and dlopen", ms["ours"], ms["bare"], Target("at most", 1.5)),
    ]


def _milliseconds(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [value * 1e3 for value in values] for name, values in seconds.items()}


def _load_all(paths: Sequence[str], library_path: str | None = None) -> float:
    begin = perf_counter()
    results = list(load_all(paths, SECONDS, PARALLEL, library_path))
    end = perf_counter()
    for result in results:
        if result.outcome != "loaded":
            raise ProcessError(f"{result.path}: {result.outcome}: {result.dlerror_text}")
    return end - begin


def _run_each(command: Sequence[str], paths: Sequence[str]) -> float:
    """Return the seconds of runs one after the other, as the established test does."""
    return sum(_run([*command, path], "") for path in paths)


def _run(command: Sequence[str], library_path: str) -> float:
    begin = perf_counter()
    status = subprocess.run(command, env={**os.environ, "LD_LIBRARY_PATH": library_path}, check=False).returncode
    end = perf_counter()
    if status != 0:
        raise ProcessError(f"{command[0]}: exit status {status}")
    return end - begin
