"""The row `trampoline`: a program of the SDK through its console script, beside the program itself."""

from __future__ import annotations

import subprocess
from functools import partial

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.inputs.rules import Script
from rocm_sdk_build.packages.trampoline import Place, write_trampoline

from .figures import Figure, Target, difference, in_turn
from .observation import ProcessError, run_timed
from .stage import Environment, Stage

CONSOLE_SCRIPT = """\
import os
import sys
import rocm_sdk_core
tool = os.path.join(os.path.dirname(os.path.dirname(rocm_sdk_core.__file__)), "_rocm_sdk_core/bin/benchmark-tool")
os.execv(tool, [tool, *sys.argv[1:]])
"""


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row; raise ProcessError if the compiler cannot make a trampoline."""
    environment = stage.environment(Shape.NONE)
    tool = environment.site / "_rocm_sdk_core/bin/benchmark-tool"
    write_tool(environment)
    script = environment.python.with_name("benchmark-tool-in-python")
    script.write_text(CONSOLE_SCRIPT, encoding="utf-8")
    calls = {
        "tool": partial(run_timed, [str(tool), "--version"]),
        "trampoline": partial(run_timed, [str(environment.python.with_name("benchmark-tool")), "--version"]),
        "console script": partial(run_timed, [str(environment.python), "-I", str(script), "--version"]),
    }
    ms = {name: [value * 1e3 for value in values] for name, values in in_turn(stage.rounds(41), calls).items()}
    return [
        difference(
            "a tool through its trampoline, over the tool", "ms", ms["trampoline"], ms["tool"], Target("at most", 2)
        ),
        difference("through a Python console script, over the tool", "ms", ms["console script"], ms["tool"]),
    ]


def write_tool(environment: Environment) -> None:
    """Write a program of the SDK that does nothing, and its trampoline."""
    script = Script("benchmark-tool", "bin/benchmark-tool", False)
    tool = environment.site / "_rocm_sdk_core" / script.path
    tool.parent.mkdir(exist_ok=True)
    command = ["cc", "-O2", "-x", "c", "-", "-o", str(tool)]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    tree = environment.site / "_rocm_sdk_devel/bin"
    if tree.is_dir() and not (tree / script.name).is_symlink():
        (tree / script.name).symlink_to(tool)  # as the tree of an SDK with this program has it
    (info,) = environment.site.glob("rocm_sdk_core-*.dist-info")
    place = Place("_rocm_sdk_core", info.name, "_rocm_sdk_devel", "")
    if not write_trampoline(environment.python.with_name(script.name), script, place):
        raise ProcessError("the compiler cannot make a trampoline")
