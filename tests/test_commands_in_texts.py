"""Each command and option that a text of the product names exists: there is no `rocm-sdk list --all`."""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocm_sdk.cli.parser import make_parser
from rocm_sdk_build.commands.table import make_parser as make_build_parser

ROOT = Path(__file__).resolve().parent.parent
# A command: the program, the subcommand, and words up to what ends a command or begins another one.
_NAMED = re.compile(r"(?<![\w./-])(rocm-sdk(?:-build)?) +([a-z][a-z-]*)((?: +(?!rocm-sdk|-- )[^\s`;|&()#]+)*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_OF_A_PROGRAM = re.compile(r"(?<= )[^- ].*")  # the words of `rocm-sdk run` that another program gets
_C_STRINGS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
_PROSE = {"of", "with", "writes"}  # words of sentences about the program itself


def known() -> dict[str, dict[str, set[str]]]:
    """Return the options of each subcommand of each program."""
    found = {parser.prog: dict(_subcommands(parser)) for parser in (make_parser(), make_build_parser())}
    return {program: {**commands, "help": set()} for program, commands in found.items()}


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, set[str]]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                inner = dict(_subcommands(command))
                yield name, {*command._option_string_actions}.union(*inner.values())


def texts(path: Path) -> Iterator[str]:
    """Yield the string constants of a file; `X` stands for a value that an f-string fills in."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".c":
        for literal in _C_STRINGS.findall(source):
            yield "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', literal)).replace("\\n", "\n")
        return
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.value


def wrong(text: str, commands: dict[str, dict[str, set[str]]]) -> Iterator[str]:
    """Yield the commands and options of the text that no parser has."""
    for program, name, words in _NAMED.findall(text):
        own = commands[program]
        if name in own:
            options = _OPTION.findall(_OF_A_PROGRAM.sub("", words) if name == "run" else words)
            yield from (f"{program} {name} {each}" for each in options if each not in own[name])
        elif name not in _PROSE:
            yield f"{program} {name}"


def test_each_command_in_a_text_exists() -> None:
    commands = known()
    found = []
    for folder, pattern in (("rocm_sdk", "*.py"), ("builder/rocm_sdk_build", "*.py"), ("csrc", "*.c")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            found += [f"{path.relative_to(ROOT)}: {each}" for text in texts(path) for each in wrong(text, commands)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "`rocm-sdk list --all` lists them",
        "rocm-sdk lists",
        "rocm-sdk-build closure --for torch --exactly",
        "rocm-sdk-build test",
        "rocm-sdk init  # or: rocm-sdk test --fixed",
        "rocm-sdk run --keep ./app --size 5",
    ],
)
def test_a_text_that_names_what_is_not_there(text: str) -> None:
    assert len(list(wrong(text, known()))) == 1
