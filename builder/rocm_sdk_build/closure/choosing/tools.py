"""The programs of the SDK that a closure keeps, with the files that they read (`tools.txt`)."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable
from pathlib import Path

from rocm_sdk.base.meant import did_you_mean
from rocm_sdk_build.base.errors import WrongUsageError
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkFile
from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.rules import PACKAGES, Script, read_rules

_TABLE = Path(__file__).with_name("tools.txt")
_DIRECTORIES = ("bin", "lib/llvm/bin")


def tool_files(sdk: InstalledSdk, names: Iterable[str]) -> dict[str, str]:
    """Return the reason for each file of the tools, by the path of the file.

    Raise WrongUsageError for a tool that the SDK does not have.
    """
    rows = [line.split() for line in _TABLE.read_text(encoding="utf-8").splitlines() if line.partition("#")[0].strip()]
    found: dict[str, str] = {}
    for name in names:
        globs = [_program(sdk, name), *(glob for tool, glob in rows if tool == name)]
        for file in sdk.files.values():
            if any(matches(file.place, glob) for glob in globs):
                found.setdefault(file.path, f"{name} reads it" if file.place != globs[0] else f"asked for as {name}")
    return found


def kept_commands(kept: Iterable[SdkFile]) -> dict[str, Script]:
    """Return the commands of an environment whose programs are kept, by their names."""
    places = {file.place for file in kept}
    return {script.name: script for script in _scripts() if script.path in places}


def commands_left_out(kept: Container[str]) -> frozenset[str]:
    """Return the commands of an environment that start a program of the SDK that is not kept.

    `kept` has the names of the commands that stay.
    """
    return frozenset(script.name for script in _scripts() if script.name not in kept)


def _program(sdk: InstalledSdk, name: str) -> str:
    """Return the path of the program below a package's directory.

    Raise WrongUsageError if the SDK has no such program.
    """
    own = {script.path for script in _scripts() if script.name == name}
    places = {file.place: file for file in sdk.files.values()}
    for place in (*sorted(own), *(f"{directory}/{name}" for directory in _DIRECTORIES)):
        if place in places:
            return place
    programs = tuple(sorted({place.rpartition("/")[2] for place in places if place.rpartition("/")[0] in _DIRECTORIES}))
    fix = did_you_mean(name, programs) or f"name one that is there: {', '.join(programs)}"
    what = f"{shlex.join(['--tool', name])}: the SDK has no such program"
    raise WrongUsageError(what, fix if programs else "leave it out: this SDK has no programs")


def _scripts() -> list[Script]:
    rules = read_rules()
    return [script for package in PACKAGES for script in rules.packages[package].scripts]
