"""The command `index`: pages from which pip and uv install."""

from __future__ import annotations

import argparse
from pathlib import Path

from .options import tell_made


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the directories of packages."""
    command.description = (
        "Write pages from which pip and uv install. Run `check` first: it says whether the packages are complete."
    )
    command.add_argument("directory", type=Path, metavar="DIR", help="where the packages are")
    command.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="another directory that has packages (may be given several times)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the pages."""
    from rocm_sdk_build.output.index import IncompleteIndexError, write_index

    try:
        tell_made(write_index(options.directory, options.root, of_sdk=True))
    except IncompleteIndexError as error:
        tell_made(error.pages)
        raise
    return 0
