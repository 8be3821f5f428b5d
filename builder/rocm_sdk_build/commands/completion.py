"""The command `completion`: the script with which a shell completes rocm-sdk-build."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from rocm_sdk.cli.completion import SHELLS, print_script


def add_arguments(command: ArgumentParser) -> None:
    """Add the argument about the shell."""
    command.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: Namespace) -> int:
    """Print the script."""
    print_script(str(__package__), options.shell)
    return 0
