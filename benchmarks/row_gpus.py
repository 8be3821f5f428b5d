"""The row `gpus`: finding the GPUs of trees with 1, 8 and 64 GPUs, beside other detectors.

The others are a pathlib detector, rocm-bootstrap, and loops in C that read each file once: nothing can be quicker.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sample_machine import Machine

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, difference, figure, in_turn, ratio
from .observation import Observation, observe
from .stage import Environment, Stage

LEAST = {1: 3.5, 8: 6.0, 64: 8.0}  # GPUs -> times that our targets are quicker than rocm-bootstrap's
DETECTORS = ("targets", "full", "C", "C, full", "pathlib", "rocm-bootstrap")
MODULES = {"ours": "rocm_sdk", "rocm-bootstrap": "rocm_bootstrap.detect"}


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row: of each number of GPUs, then of a first detection and the command with 8 GPUs."""
    environment = stage.environment(Shape.NONE)
    roots = {count: _machine(stage.directory / f"machine-{count}", count) for count in LEAST}
    figures = [line for count in LEAST for line in _warm(stage, environment, roots[count], count)]
    return figures + _first(stage, environment, roots[8]) + _command(stage, environment, roots[8])


def _machine(directory: Path, count: int) -> Path:
    machine = Machine(directory)
    machine.cpu(0)
    for node in range(1, count + 1):
        machine.gpu(node, "gfx942", num_xcc=8)
    return directory


def _warm(stage: Stage, environment: Environment, root: Path, count: int) -> list[Figure]:
    """Return the figures of detections in one process, in turn, after a first round."""
    seen = observe(environment.command("detect_in_turn", str(root), str(stage.rounds(201))))
    ms = {name: [int(value) / 1e6 for (value,) in seen.facts[name]] for name in DETECTORS}
    what = f"{count} GPU{'s' if count > 1 else ''}"
    figures = [
        figure(f"targets of {what}", "ms", ms["targets"], Target("at most", 0.3) if count == 8 else None),
        figure(f"the full picture of {what}", "ms", ms["full"]),
    ]
    for reference, quicker in (("rocm-bootstrap", LEAST[count]), ("pathlib", 4.0)):
        for ours, least in (("targets", quicker), ("full", 1.0)):
            name = f"{what}: {reference}'s targets take as many times as long as our {ours}"
            figures.append(ratio(name, ms[reference], ms[ours], Target("at least", least)))
    name = f"{what}: rocm-bootstrap's targets take as many times as long as the loop in C"
    figures.append(ratio(name, ms["rocm-bootstrap"], ms["C"]))
    name = f"{what}: our full picture in times of our targets"
    figures.append(ratio(name, ms["full"], ms["targets"], Target("at most", 1.7)))
    name = f"{what}: the full picture of the loop in C in times of its targets"
    figures.append(ratio(name, ms["C, full"], ms["C"]))
    return figures


def _first(stage: Stage, environment: Environment, root: Path) -> list[Figure]:
    """Return the figures of import and first detection, each in a fresh process."""
    commands = {name: environment.command("detect_first", module, str(root)) for name, module in MODULES.items()}
    seen: dict[str, list[Observation]] = in_turn(
        stage.rounds(41), {name: partial(observe, line) for name, line in commands.items()}
    )
    ms = {name: [observation.seconds * 1e3 for observation in runs] for name, runs in seen.items()}
    return [
        figure("import and first detection of 8 GPUs", "ms", ms["ours"]),
        ratio("rocm-bootstrap takes as many times as long", ms["rocm-bootstrap"], ms["ours"], Target("at least", 8.0)),
    ]


def _command(stage: Stage, environment: Environment, root: Path) -> list[Figure]:
    pythons = {
        "ours": environment.script("gpus", "--arch", ROCM_SDK_ROOTFS=str(root)),
        "python": environment.nothing(),
    }
    ms = {name: [value * 1e3 for value in values] for name, values in in_turn(stage.rounds(41), pythons).items()}
    return [
        difference("`rocm-sdk gpus --arch` over `python -c pass`", "ms", ms["ours"], ms["python"]),
        ratio("`rocm-sdk gpus --arch` beside `python -c pass`", ms["ours"], ms["python"], Target("at most", 1.3)),
    ]
