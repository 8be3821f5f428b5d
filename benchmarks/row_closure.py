"""The row `closure`: the SDK of one library and one GPU: bytes in, bytes out, and the time with and without its proof.

Beside the closure, `cp` copies the files that were written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, figure, in_turn, ratio
from .observation import ProcessError
from .stage import Stage

LIBRARY, GPU = "hipsparse", "gfx90a"
_TARGET = Target("at most", 4)


class Run(NamedTuple):
    """The measurements of a closure; sizes are in bytes."""

    seconds: float
    size_before: int
    size: int


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row, of the SDK with RPATHs if there is one; raise ProcessError if `closure` fails."""
    directory = stage.directory / "closure"
    directory.mkdir()
    site = stage.environment(Shape.RPATH if Shape.RPATH in stage.shapes else Shape.NONE).site
    _write_records_last(site)
    words = ("--library", LIBRARY, *(() if stage.has_sample_sdk else ("--gpu", GPU)))
    runs = in_turn(
        stage.rounds(3),
        {
            "proved": lambda: _close(site, directory / "out", words),
            "written": lambda: _close(site, directory / "out", (*words, "--no-proof")),
            "copied": lambda: _copy(directory / "out", directory / "copy"),
        },
    )
    seconds = {name: [each.seconds for each in found] for name, found in runs.items()}
    what = f"closure of {' '.join(words)}"
    return [
        figure(f"{what}: bytes in", "MB", [each.size_before / 1e6 for each in runs["proved"]]),
        figure(f"{what}: bytes out", "MB", [each.size / 1e6 for each in runs["proved"]]),
        figure(f"{what}, with its proof", "s", seconds["proved"]),
        figure(f"{what}, without", "s", seconds["written"]),
        ratio(
            "without proof, in times of copying what it wrote with cp",
            *(seconds["written"], seconds["copied"]),
            None if stage.has_sample_sdk else _TARGET,
        ),
    ]


def _close(site: Path, output: Path, words: tuple[str, ...]) -> Run:
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "rocm_sdk_build", "closure", *words, "--json", "--output", str(output)]
    start = perf_counter()
    done = subprocess.run(
        command, env={**os.environ, "ROCM_SDK_ROOT": str(site)}, capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - start
    if done.returncode:
        raise ProcessError(f"{' '.join(command)}: {done.stderr}")
    document = json.loads(done.stdout)
    return Run(seconds, document["size_before"], document["size"])


def _copy(closure: Path, target: Path) -> Run:
    shutil.rmtree(target, ignore_errors=True)
    start = perf_counter()
    subprocess.run(["cp", "-r", "--reflink=never", str(closure), str(target)], check=True)
    return Run(perf_counter() - start, 0, 0)


def _write_records_last(site: Path) -> None:
    """Write each RECORD last, as installers do; the stage has made links in any order."""
    for record in site.glob("*.dist-info/RECORD"):
        text = record.read_bytes()
        record.unlink()
        record.write_bytes(text)
