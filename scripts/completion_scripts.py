"""The scripts with which shells complete both programs; shtab makes the scripts from the parsers of the programs.

The scripts are files of the distributions, so that no user needs shtab, and the TAB key starts no program.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator
from typing import NamedTuple

import shtab

from rocm_sdk.cli.parser import make_parser
from rocm_sdk_build.commands.table import add_commands

SHELLS = ("bash", "zsh", "fish")


class _Program(NamedTuple):
    """A row of _PROGRAMS."""

    directory: str  # the directory of the scripts
    make_parser: Callable[[], ArgumentParser]


def build_parser() -> ArgumentParser:
    """Return the parser of rocm-sdk-build with all of its commands."""
    parser = ArgumentParser(prog="rocm-sdk-build")
    add_commands(parser)
    return parser


_PROGRAMS = {
    "rocm-sdk": _Program("rocm_sdk/cli/completions", make_parser),
    "rocm-sdk-build": _Program("builder/rocm_sdk_build/commands/completions", build_parser),
}


def scripts() -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each script."""
    for program, row in _PROGRAMS.items():
        for shell in SHELLS:
            yield f"{row.directory}/{shell}", _script(program, row.make_parser(), shell)


def _script(program: str, parser: ArgumentParser, shell: str) -> str:
    for command, action in _arguments(parser):
        values = _VALUES.get((program, command, action.dest)) or _VALUES_OF.get(str(action.metavar))
        if values is not None:
            action.choices = values()
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif (function := _FUNCTIONS.get((program, command, action.dest))) is not None:
            of_fish = f"({function})"
            action.complete = {"bash": function, "zsh": function, "fish": of_fish}  # type: ignore[attr-defined]
    preamble = _PREAMBLE[shell].replace("SHORTNAMES", " ".join(_shortnames())) if program == "rocm-sdk" else ""
    script = str(shtab.complete(parser, shell=shell, preamble=preamble))
    if shell == "zsh":  # shtab lets only the first of several arguments be completed
        script = script.replace('"(*)::', '"*:').replace('"(*):', '"*:')
    return f"{script.rstrip()}\n"


# ---- values, which are part of the scripts; only `run` asks the installation, for its programs


def _arguments(parser: ArgumentParser) -> Iterator[tuple[str, Action]]:
    """Yield the name of each command with each of its arguments."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for name, command in action.choices.items():
                yield from ((name, each) for each in command._actions)


def _shortnames() -> list[str]:
    from rocm_sdk._native import catalog

    return [name for name, *_ in catalog()]


def _codes() -> list[str]:
    from rocm_sdk.problems import ENTRIES

    return list(ENTRIES)


def _subjects() -> list[str]:
    from rocm_sdk.problems.subject_table import SUBJECTS

    return [*SUBJECTS, *_codes()]


def _targets() -> list[str]:
    from rocm_sdk._native import targets

    return ["machine", *(each.name for each in targets()), *_families()]


def _families() -> list[str]:
    from rocm_sdk._native import targets

    return list(dict.fromkeys(family for each in targets() for family in each.families))


def _selections() -> list[str]:
    return ["sdk", *_targets()]


def _kinds() -> list[str]:
    return ["discrete", "integrated", *_targets()]


def _chosen_gpus() -> list[str]:
    return ["discrete", "integrated", "supported", *_targets()[1:]]


def _layers() -> list[str]:
    from rocm_sdk.gpu_support.gpu_choice import LAYERS

    return list(LAYERS)


def _purposes() -> list[str]:
    from rocm_sdk.cli.env import PURPOSES

    return list(PURPOSES)


# Program, command and argument -> the values that it takes.
_VALUES = {
    ("rocm-sdk", "check", "gpu"): _targets,
    ("rocm-sdk", "check-gpu", "gpu"): _targets,
    ("rocm-sdk", "code", "keep"): _targets,
    ("rocm-sdk", "env", "gpu"): _chosen_gpus,
    ("rocm-sdk", "env", "layer"): _layers,
    ("rocm-sdk", "env", "purpose"): _purposes,
    ("rocm-sdk", "env", "targets"): _selections,
    ("rocm-sdk", "explain", "code"): _codes,
    ("rocm-sdk", "install", "gpu"): _kinds,
    ("rocm-sdk", "path", "shortnames"): _shortnames,
    ("rocm-sdk", "run", "gpu"): _chosen_gpus,
    ("rocm-sdk", "run", "layer"): _layers,
    ("rocm-sdk", "targets", "selection"): _selections,
    ("rocm-sdk", "test", "only"): _subjects,
    ("rocm-sdk", "test", "skip"): _subjects,
    ("rocm-sdk-build", "closure", "library"): _shortnames,
    ("rocm-sdk-build", "closure", "preload"): _shortnames,
    ("rocm-sdk-build", "init-module", "shortnames"): _shortnames,
}

# The name of a value in the help -> the values.
_VALUES_OF = {"FAMILIES": _families, "TARGETS": _targets}
_FILES = frozenset({"FILE", "FILE|DIRECTORY|WHEEL|DISTRIBUTION", "PLACE", "WHEEL"})
_DIRECTORIES = frozenset({"DIR", "ROOT"})

# Program, command and argument -> the function of the preamble that completes it.
_FUNCTIONS = {
    ("rocm-sdk", "run", "program"): "_rocm_sdk_programs",
    ("rocm-sdk", "tree", "names"): "_rocm_sdk_libraries_and_files",
}
_TOOLS = 'for each in bin lib/llvm/bin; do ls "$(rocm-sdk path --core)/$each"; done 2>/dev/null'
_PREAMBLE = {
    "bash": f"""\
_rocm_sdk_programs() {{
  compgen -c -- "$1"
  compgen -W "$({_TOOLS})" -- "$1"
}}
_rocm_sdk_libraries_and_files() {{
  compgen -W "SHORTNAMES" -- "$1"
  compgen -f -- "$1"
}}
""",
    "zsh": f"""\
_rocm_sdk_programs() {{
  compadd -- $({_TOOLS})
  _command_names
}}
_rocm_sdk_libraries_and_files() {{
  compadd -- SHORTNAMES
  _files
}}
""",
    "fish": """\
function _rocm_sdk_programs
  set -l core (rocm-sdk path --core 2>/dev/null)
  command ls $core/bin $core/lib/llvm/bin 2>/dev/null
  __fish_complete_command
end
function _rocm_sdk_libraries_and_files
  string split ' ' 'SHORTNAMES'
  __fish_complete_path (commandline -ct)
end
""",
}
