"""The command `completion`: the script with which a shell completes rocm-sdk-build."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from rocm_sdk.terminal.completion_script import SHELLS, Values, script, shortnames


def add_arguments(command: ArgumentParser) -> None:
    """Add the argument about the shell."""
    command.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: Namespace) -> int:
    """Print the script, and return status 0."""
    from .table import make_parser

    print(script(make_parser(), options.shell, Values(_WORDS)), end="")
    return 0


# Subcommand and argument -> the values, which are part of the script.
_WORDS = {
    ("closure", "library"): shortnames,
    ("closure", "preload"): shortnames,
    ("init-module", "shortnames"): shortnames,
}
