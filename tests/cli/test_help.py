"""`--help` of every command: an example that can be typed."""

import re
import subprocess
from collections.abc import Callable

import pytest

from rocm_sdk.cli.commands import COMMANDS
from rocm_sdk.cli.parser import parse

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_parses(call: Call, name: str) -> None:
    result = call(name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    example = result.stdout.partition("example: ")[2].strip()
    assert example
    # The words between "rocm-sdk" and what ends a command in a shell.
    for words in re.findall(r"(?<![-\w\"/])rocm-sdk ([^)|>&\"\n]+)", example):
        parse(words.split())
    assert re.search(rf"rocm-sdk {name}\b|-m rocm_sdk\.adoption", example)


def test_all_commands_are_listed(call: Call) -> None:
    listed = call("--help").stdout
    for name, summary in COMMANDS.items():
        assert re.search(rf"^ +{name}\b", listed, re.MULTILINE), name
        assert summary.split()[0] in listed


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("columns", [50, 120])
def test_help_fits_the_terminal(call: Call, name: str, columns: int) -> None:
    _usage, _, rest = call(name, "--help", COLUMNS=str(columns)).stdout.partition("\n\n")  # argparse breaks no group
    *text, example = [line for line in rest.splitlines() if line]
    assert example.startswith("example: "), "one line, to be copied"
    for line in text:
        assert len(line) <= columns or len(line.split()[-1]) > columns - 30, (
            "only words that cannot be broken stand out"
        )


def test_descriptions_use_the_width(call: Call) -> None:
    wide = call("env", "--help", COLUMNS="200").stdout
    assert "as commands for a shell to evaluate. The first call extracts the development tree." in wide
    assert "                          (bitcode), if the tree has them" in call("env", "--help", COLUMNS="60").stdout
