"""The commands `rocm-sdk` and `rocm-sdk-build`: subcommands, arguments, options; exit statuses; environment variables.

Exit statuses come from the table in docs/commands.md, and a test compares that table with the programs.
"""

from __future__ import annotations

import argparse
import ast
import re
from pathlib import Path

from rocm_sdk.cli.commands import COMMANDS
from rocm_sdk.cli.parser import make_parser
from rocm_sdk.problems import ALIASES, ENTRIES
from rocm_sdk_build.commands.table import make_parser as make_build_parser

from .tables import Table

ROOT = Path(__file__).resolve().parents[2]
_STATUS = re.compile(r"^\| `(rocm-sdk(?:-build)?(?: [a-z-]+)?)` \| (\d+) \| (.+?) \|$", re.MULTILINE)
_VARIABLE = re.compile(r"\bROCM_SDK_[A-Z]+(?:_[A-Z]+)*_?\b")
_OF_THE_TESTS = re.compile(r"ROCM_SDK_(TEST|CI)_|ROCM_SDK_ROOTFS$|_H$")


def commands() -> Table:
    """Return the rows of both commands."""
    table: Table = {}
    _add(table, make_parser())
    _add(table, make_build_parser())
    return table


def _add(table: Table, parser: argparse.ArgumentParser) -> None:
    """Add the rows of a command and of its subcommands."""
    table[parser.prog] = "command"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                _add(table, command)
                table[f"{parser.prog} {name}"] = "command"
        elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            names = action.option_strings or [str(action.metavar or action.dest)]
            name = next((each for each in names if each.startswith("--")), names[0])
            words = [*(each for each in names if each != name), _value(action), _count(action)]
            table[f"{parser.prog} {name}"] = " ".join(word for word in words if word) or "flag"


def _value(action: argparse.Action) -> str:
    """Return the name of an argument's value in the help, or its choices; "" if the argument takes no value."""
    if action.nargs == 0:
        return ""
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or action.dest.upper()) if action.option_strings else "argument"


def _count(action: argparse.Action) -> str:
    """Return the number of values that an argument takes, where that is not one, and whether it is required."""
    needed = " required" if action.option_strings and action.required else ""
    return f"{action.nargs if action.nargs not in (None, 0) else ''}{needed}".strip()


def exit_statuses() -> Table:
    """Return the table of docs/commands.md: `rocm-sdk check 3` -> when."""
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    return {f"{command} {status}": when for command, status, when in _STATUS.findall(text)}


def returned_statuses() -> dict[str, set[int]]:
    """Return the numbers that functions of each subcommand's module return, by command, as `rocm-sdk check`."""
    found: dict[str, set[int]] = {}
    for name in COMMANDS:
        stem = name.replace("-", "_")
        paths = [*(ROOT / "rocm_sdk/cli").glob(f"{stem}.py"), *(ROOT / f"rocm_sdk/cli/{stem}").glob("*.py")]
        trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
        returns = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Return)]
        found[f"rocm-sdk {name}"] = {number for each in returns for number in _numbers(each.value)}
    return found


def _numbers(value: ast.expr | None) -> list[int]:
    if isinstance(value, ast.IfExp):
        return [*_numbers(value.body), *_numbers(value.orelse)]
    return [value.value] if isinstance(value, ast.Constant) and type(value.value) is int else []


def problem_codes() -> Table:
    """Return codes with their severity, and codes of earlier releases with their replacements."""
    return {code: entry.severity for code, entry in ENTRIES.items()} | {
        code: f"replaced by {others}" for code, others in ALIASES.items()
    }


def variables() -> Table:
    """Return the environment variables that the pages name and the programs read."""
    documented = {name for page in (ROOT / "docs").glob("*.md") for name in _VARIABLE.findall(page.read_text("utf-8"))}
    sources = [
        path.read_text(encoding="utf-8")
        for place, pattern in (("csrc", "*.c"), ("rocm_sdk", "*.py"), ("builder", "*.py"))
        for path in (ROOT / place).rglob(pattern)
    ]
    read = {name for text in sources for name in _VARIABLE.findall(text)}
    return {name: "environment variable" for name in documented & read if not _OF_THE_TESTS.search(name)}
