"""The command `promote`: a release from a release candidate's packages."""

from __future__ import annotations

import argparse
from pathlib import Path

from .options import names, tell_made


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the packages and their release."""
    command.add_argument("directory", type=Path, metavar="DIR", help="where the packages are")
    command.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="where the packages of the release go"
    )
    command.add_argument("--version", required=True, help="of the release")
    command.add_argument(
        "--keep-targets", type=names, metavar="TARGETS", help="whose device packages the release has (all)"
    )


def run(options: argparse.Namespace) -> int:
    """Print the packages of the release."""
    from rocm_sdk_build.output.promotion import promote

    targets = None if options.keep_targets is None else frozenset(options.keep_targets)
    tell_made(promote(options.directory, options.output, options.version, targets))
    return 0
