"""The command `dlopen-dependencies`: libraries that name other libraries without needing them."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the argument about the SDK."""
    command.add_argument("directory", type=Path, metavar="DIR", help="an installed SDK")


def run(options: argparse.Namespace) -> int:
    """Print a line for each pair."""
    from rocm_sdk_build.code.dlopen_dependencies import find_dlopen_dependencies

    for dependency in find_dlopen_dependencies(options.directory):
        print(f"{dependency.library} -> {dependency.name}")
    return 0
