"""The command `prefix`: packages of an installed ROCm."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError

from .options import add_parts, add_writing, tell_made, wish_of


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the directories of ROCm, and the packages made from them."""
    command.add_argument("roots", type=Path, nargs="*", metavar="ROOT", help="directories that have bin, lib, include")
    command.add_argument(
        "--files",
        type=Path,
        action="append",
        default=[],
        metavar="LIST",
        help="files to take from the roots, as dpkg -L, rpm -ql or qlist lists them, or roots, as of nix-store -qR (-)",
    )
    command.add_argument(
        "--llvm", type=Path, metavar="ROOT", help="another root: AMD's LLVM, if it has its own directory"
    )
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the packages go")
    add_parts(command)
    command.add_argument("--version", help="of the packages; by default the version of the ROCm in the first ROOT")
    add_writing(command)


def run(options: argparse.Namespace) -> int:
    """Print the packages that are made."""
    from rocm_sdk_build.building.prefix import PrefixWish, build
    from rocm_sdk_build.inputs.rules import read_rules

    options.version = options.version or _version_of(options.roots)
    packages = wish_of(options, options.roots, options.output)
    wish = PrefixWish(packages, options.files, options.families, options.split, options.llvm)
    tell_made(build(wish, read_rules(options.rules)))
    return 0


def _version_of(roots: Iterable[Path]) -> str:
    """Return the version that a root states for its ROCm, or its HIP.

    Raise PackagingError if no root states a version.
    """
    from rocm_sdk.installed.prefix import Prefix
    from rocm_sdk.installed.prefix_versions import release_of
    from rocm_sdk_build.inputs.prefix.roots import directories_of

    for root in directories_of(roots):
        version = release_of(Prefix(str(root.absolute())))
        if version is not None:
            return version
    raise PackagingError("no ROOT says which ROCm it has (.info/version, libamdhip64.so.X.Y.Z)", "--version 7.1.2")
