"""The command `prefix`: packages of an installed ROCm."""

from __future__ import annotations

import argparse
from pathlib import Path

from rocm_sdk_build.building.prefix import Wish, build
from rocm_sdk_build.inputs.rules import read_rules

from .options import add_parts, add_writing, wish_of


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What of which directories, and what is made of it."""
    command.add_argument("roots", type=Path, nargs="*", metavar="ROOT", help="directories that have bin, lib, include")
    command.add_argument(
        "--files",
        type=Path,
        action="append",
        default=[],
        metavar="LIST",
        help="what of the roots is taken, as dpkg -L, rpm -ql and qlist print it, or roots, as nix-store -qR does (-)",
    )
    command.add_argument(
        "--llvm", type=Path, metavar="ROOT", help="one more: AMD's LLVM where it has a directory of its own"
    )
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the packages go")
    add_parts(command)
    command.add_argument("--version", required=True, help="of the packages")
    add_writing(command)


def run(options: argparse.Namespace) -> int:
    """Prints the packages that are made."""
    packages = wish_of(options, options.roots, options.output)
    wish = Wish(packages, options.files, options.families, options.split, options.llvm)
    for path in build(wish, read_rules(options.rules)):
        print(path)
    return 0
