"""The row `codelist`: listing the GPU code of the largest library, beside objcopy and clang-offload-bundler."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path
from time import perf_counter

from sample_device_code import bundle, compressed, library, objects

import rocm_sdk
from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, figure, in_turn, ratio
from .observation import Observation, observe
from .stage import Environment, Stage

COMPRESSED, LIBRARIES = 45, 200
TARGETS = ("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942")


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row: of the largest library, of compressed bundles, and of many libraries."""
    environment = stage.environment(Shape.NONE)
    directory = stage.directory / "codelist"
    directory.mkdir()
    return [
        *_largest(stage, environment, directory),
        *_compressed(stage, environment, directory),
        *_many(stage, environment, directory),
    ]


def _largest(stage: Stage, environment: Environment, directory: Path) -> list[Figure]:
    if stage.has_sample_sdk:
        path = library(directory / "liblarge.so", [bundle(objects(*TARGETS))] * 3)
    else:
        path = environment.site / "_rocm_sdk_libraries/lib/librocsparse.so.0"
    runs: dict[str, list[Observation]] = in_turn(
        stage.rounds(21), {"ours": partial(observe, environment.command("list_code", str(path)))}
    )
    ms = [run.seconds * 1e3 for run in runs["ours"]]
    size = path.stat().st_size / 1e6
    figures = [
        figure(f"listing the code of {path.name}, {size:.0f} MB", "ms", ms, Target("at most", 20.0)),
        figure("memory that it takes", "MB", [run.peak_growth / 1e6 for run in runs["ours"]], Target("at most", 10.0)),
    ]
    tool = _bundler()
    if tool is not None:
        rounds = stage.rounds(3)
        judged = [_ask_bundler(tool, path, directory) * 1e3 for _ in range(rounds)]
        what = "objcopy and clang-offload-bundler take as many times as long"
        figures.append(ratio(what, judged, ms[:rounds], Target("at least", 20.0)))
    return figures


def _bundler() -> str | None:
    """Return the bundler of clang, which need not be in PATH, or None."""
    clang = shutil.which("clang")
    if clang is None:
        return None
    tool = subprocess.check_output([clang, "--print-prog-name=clang-offload-bundler"], text=True).strip()
    return shutil.which(tool)


def _ask_bundler(tool: str, path: Path, directory: Path) -> float:
    """Return the seconds of the established way, which sees one bundle in a file, and is told where each starts."""
    starts = rocm_sdk.device_code(path).bundles
    section, cut = directory / "section", directory / "cut"
    begin = perf_counter()
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.hip_fatbin", str(path), str(section)], check=True)
    with section.open("rb") as file:
        for each in starts:
            file.seek(each.offset - starts[0].offset)
            cut.write_bytes(file.read(each.size))
            subprocess.run([tool, "-list", "-type=o", f"-inputs={cut}"], check=True, stdout=subprocess.DEVNULL)
    seconds = perf_counter() - begin
    section.unlink()
    return seconds


def _compressed(stage: Stage, environment: Environment, directory: Path) -> list[Figure]:
    part = compressed(bundle(objects(*TARGETS, size=2_000 if stage.is_smoke else 1_000_000)), 3)
    path = library(directory / "libpacked.so", [part] * COMPRESSED)
    runs = in_turn(stage.rounds(21), {"ours": partial(observe, environment.command("list_code", str(path)))})
    ms = [run.seconds * 1e3 for run in runs["ours"]]
    return [figure(f"listing {COMPRESSED} compressed bundles", "ms", ms, Target("at most", 150.0))]


def _many(stage: Stage, environment: Environment, directory: Path) -> list[Figure]:
    first = library(directory / "lib0.so", [bundle(objects(*TARGETS))] * 3)
    copies = range(1, 10 if stage.is_smoke else LIBRARIES)
    paths = [str(first), *(str(shutil.copy(first, directory / f"lib{i}.so")) for i in copies)]
    place = directory / "many"
    place.mkdir()
    for path in paths:
        shutil.copy(path, place)
    questions = {
        f"`rocm-sdk code` of {len(paths)} libraries": environment.script("code", *paths),
        f"`rocm-sdk check-gpu` of {len(paths)} libraries": environment.script(
            "check-gpu", "--gpu", "gfx1030,gfx90a,gfx942", "--sdk", str(place)
        ),
    }
    runs = in_turn(stage.rounds(11), questions)
    return [figure(name, "ms", [each * 1e3 for each in runs[name]], Target("at most", 1000.0)) for name in questions]
