"""The command `clear-execstack`: an installed library that no longer asks for an executable stack."""

from __future__ import annotations

import argparse


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the library."""
    command.add_argument("file", metavar="FILE", help="the library")
    command.add_argument("--record", metavar="RECORD", help="of its distribution: gets the new digest")


def run(options: argparse.Namespace) -> int:
    """Print the changes; return 1 if the library is unchanged."""
    from rocm_sdk_build.code import installed_stack

    return installed_stack.run(options)
