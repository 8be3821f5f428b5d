"""The row `cli`: commands that scripts call in $(...), as pip installs them, beside an interpreter that does nothing.

The wrapper is the one of current pip and uv, with cached bytecode. Wrappers of earlier pips, and a package without
bytecode, as uv installs it, are measured too, without a target.

For commands with work of their own (reading libraries, the table of problems) the start counts, and the work is told
beside it. The work is the time of a second call in one process, which has all imports of the command; the start is the
time of the command less the work. `explain` has the page of a code that no test of this installation reports.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rocm_sdk_build.code.patchelf import Shape

from .figures import Figure, Target, difference, figure, in_turn, ratio
from .observation import observe, run_timed
from .stage import Environment, Stage

EARLIER_WRAPPER = """\
import re
import sys
from rocm_sdk.__main__ import main
if __name__ == "__main__":
    sys.argv[0] = re.sub(r"(-script\\.pyw|\\.exe)?$", "", sys.argv[0])
    sys.exit(main())
"""
NO_BYTECODE = "import sys; sys.path.insert(0, {!r}); from rocm_sdk.__main__ import main; sys.exit(main(['version']))"
COMMANDS = (("version",), ("targets",), ("path", "--core"))
LIBRARY = "LIBRARY"  # stands for the file of amdhip64
WORKING_COMMANDS = {  # with the target of the start
    ("path", "--root"): 1.25,
    ("list",): 1.35,
    ("explain", "E-CODE-004"): 1.35,
    ("code", LIBRARY): 1.35,
    ("check-gpu", "--gpu", "gfx1030"): 1.35,
}


def run(stage: Stage) -> list[Figure]:
    """Return the figures of the row: plain commands, then starts of commands with work, then the variants."""
    environment = stage.environment(Shape.NONE)
    # The sample SDK has no device code, hence no targets.
    commands = [words for words in COMMANDS if not (stage.has_sample_sdk and words == ("targets",))]
    calls = {" ".join(words): environment.script(*words) for words in commands}
    others = {
        "`rocm-sdk version` by the wrapper of pip 23": earlier_wrapper(environment),
        "`rocm-sdk version` without cached bytecode": without_bytecode(environment),
    }
    seconds = in_turn(stage.rounds(41), {"": environment.nothing(), **calls, **others})
    ms = {name: [value * 1e3 for value in values] for name, values in seconds.items()}
    figures = []
    for name in calls:
        figures += [
            difference(f"`rocm-sdk {name}` over `python -c pass`", "ms", ms[name], ms[""]),
            ratio(f"`rocm-sdk {name}` beside `python -c pass`", ms[name], ms[""], Target("at most", 1.25)),
        ]
    figures += starts(stage, environment)
    figures += [ratio(f"{name}, beside `python -c pass`", ms[name], ms[""]) for name in others]
    return figures


def starts(stage: Stage, environment: Environment) -> list[Figure]:
    """Return the work and the start of each of WORKING_COMMANDS, after one call of `rocm-sdk init`."""
    environment.script("init", "--quiet")()
    (library,) = environment.site.glob("_rocm_sdk_core/lib/libamdhip64.so.*")
    figures = []
    for words, most in WORKING_COMMANDS.items():
        given = [str(library) if word == LIBRARY else word for word in words]
        runs: dict[str, Callable[[], float]] = {
            "nothing": environment.nothing(),
            "command": environment.script(*given, statuses=(0, 1)),  # no code for the GPU is an answer too
            "work": partial(seconds_of_work, environment.command("run_command", *given)),
        }
        ms = {name: [value * 1e3 for value in values] for name, values in in_turn(stage.rounds(21), runs).items()}
        name = " ".join(words)
        start = [whole - work for whole, work in zip(ms["command"], ms["work"], strict=True)]
        figures += [
            figure(f"the work of `rocm-sdk {name}`", "ms", ms["work"]),
            ratio(
                f"the start of `rocm-sdk {name}` beside `python -c pass`", start, ms["nothing"], Target("at most", most)
            ),
        ]
    return figures


def seconds_of_work(command: list[str]) -> float:
    """Return the seconds of the second call in one process, which `run_command` of measured_process.py makes."""
    return observe(command).seconds


def earlier_wrapper(environment: Environment) -> Callable[[], float]:
    """Write the wrapper of pip 23; return a function that runs its `version` and returns the time in seconds."""
    path = environment.python.with_name("rocm-sdk-of-earlier-pip")
    path.write_text(EARLIER_WRAPPER, encoding="utf-8")
    return partial(run_timed, [str(environment.python), "-I", str(path), "version"])


def without_bytecode(environment: Environment) -> Callable[[], float]:
    """Copy the package without bytecode; return a function that runs `version` from there and returns the seconds."""
    bare = Path(environment.site).parents[2] / "without-bytecode"
    shutil.copytree(
        environment.site / "rocm_sdk",
        bare / "rocm_sdk",
        ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )
    return partial(run_timed, [str(environment.python), "-I", "-B", "-c", NO_BYTECODE.format(str(bare))])
