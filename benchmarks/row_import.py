"""The row `import`: `import rocm_sdk` in a running interpreter, beside an empty package and a pure-Python loader."""

from __future__ import annotations

from functools import partial

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, difference, figure, in_turn, ratio
from .observation import instruction_counter, observe
from .stage import Stage

MODULES = {"ours": "rocm_sdk", "empty": "bare_package", "reference": "reference_loader"}


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row, and the instructions where perf or valgrind can count them."""
    environment = stage.environment(Shape.NONE)
    commands = {name: environment.command("import_module", module) for name, module in MODULES.items()}
    seen = in_turn(stage.rounds(41), {name: partial(observe, line) for name, line in commands.items()})
    ms = {name: [observation.seconds * 1e3 for observation in runs] for name, runs in seen.items()}
    figures = [
        figure("`import rocm_sdk`", "ms", ms["ours"]),
        figure("the empty package with libelf", "ms", ms["empty"]),
        figure("the pure-Python reference", "ms", ms["reference"]),
        difference("over the empty package", "ms", ms["ours"], ms["empty"], Target("at most", 0.4)),
        ratio("the reference takes as many times as long", ms["reference"], ms["ours"], Target("at least", 5.0)),
    ]
    if counter := instruction_counter():
        program, count = counter
        rounds = {name: partial(count, line) for name, line in commands.items()}
        millions = {name: [run() / 1e6] for name, run in rounds.items()}
        figures += [
            difference(
                f"instructions over the empty package ({program})", "million", millions["ours"], millions["empty"]
            ),
            difference(
                f"the reference's over the empty package ({program})",
                "million",
                millions["reference"],
                millions["empty"],
            ),
        ]
    return figures
