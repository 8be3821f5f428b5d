"""The row `init`: initialize_process, beside a bare loop of dlopen in C over the same files in the right order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, difference, figure, in_turn, ratio
from .load_order import dlopen_order
from .observation import Observation, ProcessError, instruction_counter, observe, observe_dlopen
from .stage import SHORTNAMES, Environment, Stage


def run(stage: Stage) -> list[Figure]:
    """Return the figures for each shape; raise ProcessError if loop and initialize_process load different files."""
    return [row for shape in stage.shapes for row in _run_shape(stage, shape)]


def _run_shape(stage: Stage, shape: Shape) -> list[Figure]:
    environment = stage.environment(shape)
    ours = environment.command("initialize", "rocm_sdk", *SHORTNAMES)
    loop = environment.command("open_all", *dlopen_order(environment))
    runs = {"ours": partial(observe, ours), "loop": partial(observe, loop)}
    runs["timed"] = partial(observe_dlopen, ours, stage.dlopen_clock)
    # The reference cannot load libraries without RPATHs.
    if shape is not Shape.NONE:
        runs["reference"] = partial(observe, environment.command("initialize", "reference_loader", *SHORTNAMES))
    seen = in_turn(stage.rounds(41), runs)
    require_same_files(seen["ours"][0], seen["loop"][0], environment)
    figures = _figures(seen)
    if counter := instruction_counter():
        ours = environment.command("without_end", "initialize", "rocm_sdk", *SHORTNAMES)
        loop = environment.command("without_end", "open_all", *dlopen_order(environment))
        figures.append(_count_instructions(*counter, ours, loop))
    return [figure_of_shape(row, shape) for row in figures]


def _figures(seen: dict[str, list[Observation]]) -> list[Figure]:
    ms = {name: [observation.seconds * 1e3 for observation in runs] for name, runs in seen.items()}
    own = [observation.outside_dlopen * 1e3 for observation in seen["timed"]]
    figures = [
        figure("initialize_process", "ms", ms["ours"]),
        figure("bare loop of dlopen", "ms", ms["loop"]),
        ratio("as many times as long as the bare loop", ms["ours"], ms["loop"], Target("at most", 1.03)),
        difference("over the bare loop", "ms", ms["ours"], ms["loop"]),
        figure("own time: the call less the time inside dlopen", "ms", own, Target("at most", 1.0)),
    ]
    if "reference" in ms:
        figures.append(ratio("the pure-Python reference takes as many times as long", ms["reference"], ms["ours"]))
    return figures


def _count_instructions(
    program: str, count: Callable[[Sequence[str]], int], ours: list[str], loop: list[str]
) -> Figure:
    return difference(
        f"instructions over the bare loop ({program})", "million", [count(ours) / 1e6], [count(loop) / 1e6]
    )


def figure_of_shape(row: Figure, shape: Shape) -> Figure:
    """Return the figure with the shape of its SDK in its name."""
    return Figure(f"{row.what} [{shape.value}]", row.unit, row.median, row.minimum, row.maximum, row.count, row.target)


def require_same_files(ours: Observation, loop: Observation, environment: Environment) -> None:
    """Raise ProcessError for two processes that ended with different files of the SDK: they cannot be compared."""
    different = environment.sdk_files(ours.mapped_files) ^ environment.sdk_files(loop.mapped_files)
    if different:
        raise ProcessError(f"bare loop and initialize_process loaded different files: {', '.join(sorted(different))}")
