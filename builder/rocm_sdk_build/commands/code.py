"""The command `code`: files with less GPU code, or with the code in another container."""

from __future__ import annotations

import argparse

from rocm_sdk.fit.code.options import add_rewrite_arguments


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the files and the content of the new files."""
    command.add_argument("files", nargs="+", metavar="FILE", help="files, directories and wheels with GPU code")
    add_rewrite_arguments(command)


def run(options: argparse.Namespace) -> int:
    """Write each file; return the status of `code.command`."""
    from rocm_sdk_build.code import command as writing
    from rocm_sdk_build.inputs.data_files import select_for

    return writing.run(options, select_for)
