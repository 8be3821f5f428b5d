"""The row `init-scale`: the cost of more and more libraries, beside a bare dlopen, and the cost of crowded places.

The libraries are chains and fans.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_site

from .figures import Figure, Target, figure, in_turn, ratio
from .minimal_library import minimal_library
from .observation import Observation, observe
from .stage import Environment, Stage

SHORTNAME, ROOT = "roctx64", "libroctx64.so.4"
OWN_TIME = Target("at most", 40)  # microseconds a library
OVER_DLOPEN = Target("at most", 1.5)
OVER_ANCHOR = Target("at most", 1.4)
LEAST_FOR_RATIO = 1000  # below, the comparison would show the fixed cost of a call
MOST_FOR_RATIO = 4000  # above, dlopen takes many seconds, which grow with the square of the number
ROUNDS = {10: 11, 100: 11, 1000: 11, 4000: 3, 10_000: 1}


def run(stage: Stage) -> list[Figure]:
    """Return the figures of chains and fans by size, with and without RPATHs, then of crowded places."""
    environment = stage.environment(stage.shapes[0])
    sizes = (10, 100) if stage.is_smoke else tuple(ROUNDS)
    figures = []
    for rpath in ("$ORIGIN", None):
        for shape in (_chain, _fan):
            for size in sizes:
                figures += _libraries(stage, environment, shape, size, rpath)
    figures += _directories(stage, environment, 20 if stage.is_smoke else 2000)
    figures += _crowd(stage, environment, 1000 if stage.is_smoke else 100_000)
    return figures + _missing(stage, environment, 100 if stage.is_smoke else 40_000)


def _libraries(
    stage: Stage, environment: Environment, shape: Callable[[Path, int, str | None], None], size: int, rpath: str | None
) -> list[Figure]:
    site = _site(stage)
    library = site / "_rocm_sdk_core/lib"
    shape(library, size, rpath)
    command = environment.command
    runs = {
        "plan": partial(observe, command("plan_one", str(site), SHORTNAME)),
        "ours": partial(observe, command("preload_one", str(site), SHORTNAME)),
    }
    compares = size <= MOST_FOR_RATIO
    if compares:
        runs["dlopen"] = partial(observe, command("open_all", f"global:{_findable_root(library, shape, size, rpath)}"))
        if rpath is None:
            runs["anchor"] = partial(observe, command("open_all", f"global:{_anchor(library, size)}"))
    seen = in_turn(stage.rounds(ROUNDS[size]), runs)
    what = f"{shape.__name__[1:]} of {size}{'' if rpath else ', no RPATH'}"
    own = [(each.seconds - each.inside_dlopen) * 1e6 / size for each in seen["ours"]]
    figures = [
        *_plan(what, seen["plan"]),
        figure(f"{what}: own time of loading, a library", "us", own, OWN_TIME if size >= LEAST_FOR_RATIO else None),
    ]
    if compares:
        seconds = {name: [each.seconds for each in found] for name, found in seen.items()}
        target = OVER_DLOPEN if size >= LEAST_FOR_RATIO else None
        figures.append(
            ratio(f"{what}: preload_libraries beside a bare dlopen", seconds["ours"], seconds["dlopen"], target)
        )
        if rpath is None:
            target = OVER_ANCHOR if size >= LEAST_FOR_RATIO else None
            name = f"{what}: preload_libraries beside a bare dlopen of such an anchor"
            figures.append(ratio(name, seconds["ours"], seconds["anchor"], target))
    return figures


def _findable_root(library: Path, shape: Callable[[Path, int, str | None], None], size: int, rpath: str | None) -> Path:
    """Return the library for a bare dlopen.

    If the libraries have no RPATHs, the result is one of the same libraries with RPATHs, elsewhere.
    """
    if rpath is not None:
        return library / ROOT
    findable = library.parent / "findable"
    findable.mkdir()
    shape(findable, size, "$ORIGIN")
    return findable / ROOT


def _anchor(library: Path, size: int) -> Path:
    """Return an object that needs all libraries by path, as the loader writes one into memory."""
    anchor = library.parent / "anchor.so"
    anchor.write_bytes(minimal_library(anchor.name, [str(library / _name(i)) for i in range(size)]))
    return anchor


def _plan(what: str, seen: list[Observation], target: Target | None = None) -> list[Figure]:
    return [
        figure(f"{what}: load_plan", "ms", [each.seconds * 1e3 for each in seen], target),
        figure(f"{what}: memory of load_plan", "MB", [each.peak_growth / 1e6 for each in seen]),
    ]


def _directories(stage: Stage, environment: Environment, size: int) -> list[Figure]:
    """Return the figures of a chain in which each library has a RPATH with a directory of its own."""
    site = _site(stage)
    for i in range(size):
        needed = [_name(i + 1)] if i + 1 < size else []
        rpath = f"$ORIGIN/../of_{i}:$ORIGIN"
        (site / "_rocm_sdk_core/lib" / _name(i)).write_bytes(minimal_library(_name(i), needed, rpath))
    return _planned(stage, environment, site, f"chain of {size} with {size} RPATH directories")


def _crowd(stage: Stage, environment: Environment, size: int) -> list[Figure]:
    """Return the figures of two libraries among many files."""
    site = _site(stage)
    _chain(site / "_rocm_sdk_core/lib", 2, "$ORIGIN")
    for i in range(size):
        (site / "_rocm_sdk_core/lib" / f"file{i}.txt").touch()
    return _planned(stage, environment, site, f"2 libraries in a directory of {size} files")


def _missing(stage: Stage, environment: Environment, size: int) -> list[Figure]:
    """Return the figures of a library that is not there: every library of the directory is asked for its SONAME."""
    site = _site(stage)
    for i in range(1, size + 1):
        (site / "_rocm_sdk_core/lib" / _name(i)).write_bytes(minimal_library(_name(i)))
    target = None if stage.is_smoke else Target("at most", 200)
    return _planned(stage, environment, site, f"a library that is missing among {size}", target)


def _planned(
    stage: Stage, environment: Environment, site: Path, what: str, target: Target | None = None
) -> list[Figure]:
    runs = {"plan": partial(observe, environment.command("plan_one", str(site), SHORTNAME))}
    return _plan(what, in_turn(stage.rounds(5), runs)["plan"], target)


def _site(stage: Stage) -> Path:
    """Return an SDK without libraries; the one before goes."""
    site = stage.directory / "scale"
    shutil.rmtree(site, ignore_errors=True)
    write_sample_site(Shape.NONE, site)
    for package in ("_rocm_sdk_core", "_rocm_sdk_libraries"):
        shutil.rmtree(site / package / "lib", ignore_errors=True)
        (site / package / "lib").mkdir(parents=True)
    return site


def _name(index: int) -> str:
    return f"libnumber{index}.so.1" if index else ROOT


def _chain(directory: Path, size: int, rpath: str | None) -> None:
    for i in range(size):
        needed = [_name(i + 1)] if i + 1 < size else []
        (directory / _name(i)).write_bytes(minimal_library(_name(i), needed, rpath))


def _fan(directory: Path, size: int, rpath: str | None) -> None:
    (directory / ROOT).write_bytes(minimal_library(ROOT, [_name(i) for i in range(1, size)], rpath))
    for i in range(1, size):
        (directory / _name(i)).write_bytes(minimal_library(_name(i), [], rpath))
