"""Arguments that several commands have, and the types of their values."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rocm_sdk_build.base.errors import PackagingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk_build.packages.wish import Wish


def add_shape(command: argparse.ArgumentParser, usual: str) -> None:
    """Add the argument about the shape of the libraries; `usual` is the default."""
    command.add_argument(
        "--shape", choices=("none", "rpath", "runpath"), default=usual, help=f"how libraries find each other ({usual})"
    )


def add_cache(command: argparse.ArgumentParser) -> None:
    """Add the argument about the directory that keeps Debian's packages."""
    command.add_argument(
        "--cache",
        type=Path,
        default=Path("build/debian"),
        metavar="DIR",
        help="downloads and their files (build/debian)",
    )


def add_version_file(command: argparse.ArgumentParser) -> None:
    """Add the argument about the file with the version of a build."""
    note = "with rocm-version (version.json)"
    command.add_argument("--version-file", type=Path, metavar="FILE", help=note)


def add_parts(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the division of libraries by their GPU code."""
    parts = command.add_mutually_exclusive_group()
    parts.add_argument(
        "--families", metavar="FAMILIES", help="make libraries packages for these, each with only its GPU code"
    )
    parts.add_argument("--split", action="store_true", help="make device packages of files for single targets")


def add_writing(command: argparse.ArgumentParser, *, checks: bool = True, size_limit: str = "100") -> None:
    """Add the arguments about the form and the writing of wheels; `wish_of` takes the answers."""
    command.add_argument("--version-suffix", default="", metavar="NONCE", help="suffix of the platform directories")
    command.add_argument(
        "--wheel-compression",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compress the files in the wheels (on)",
    )
    command.add_argument(
        "--devel-compression",
        choices=("none", "xz", "zstd"),
        default="none",
        help="of the development tree in its wheel (none: the wheel deflates it)",
    )
    command.add_argument(
        "--check",
        action=argparse.BooleanOptionalAction,
        default=checks,
        help=f"install and test the packages before they appear ({'on' if checks else 'off'})",
    )
    pages = "record what a load of the packages touches, when they are tested, and put it into core, for cold starts"
    command.add_argument("--record-pages", action="store_true", help=pages)
    command.add_argument(
        "--keep-execstack",
        action="store_true",
        help="do not change libraries that ask for an executable stack, which glibc 2.41 refuses",
    )

    split = "put debug information of libraries and programs into separate packages, rocm-sdk-debug-* (by eu-strip)"
    command.add_argument("--split-debug", action="store_true", help=split)
    command.add_argument("--platform-tag", metavar="TAG", help="of the wheels (the one that their files need)")
    limit = f"of a file on the index, or none ({size_limit}{', as on PyPI' if size_limit == '100' else ''})"
    command.add_argument("--size-limit", type=_size, default=_size(size_limit), metavar="MB", help=limit)
    loader = command.add_mutually_exclusive_group()
    own = "of rocm-sdk-loader, to put beside the packages (that of the loader that runs here)"
    loader.add_argument("--loader", type=Path, metavar="WHEEL", help=own)
    loader.add_argument("--no-loader", action="store_true", help="put no wheel of rocm-sdk-loader there")
    add_count(command, "--jobs", "N", "threads (one for each processor)")
    command.add_argument("--rules", type=Path, metavar="FILE", help="rules: which file goes into which package")


def add_count(command: argparse.ArgumentParser, option: str, metavar: str, text: str) -> None:
    """Add an argument for a number of at least 1; without the argument, the number is 0."""
    command.add_argument(option, type=_count, default=0, metavar=metavar, help=text)


def names(text: str) -> tuple[str, ...]:
    """Return the names of targets or packages in a text.

    Raise ValueError if there is no name.
    """
    from rocm_sdk_build.packages.parts import names_in

    if not (found := names_in(text)):
        raise ValueError(text)
    return found


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _size(text: str) -> int | None:
    """Return the bytes of a number of megabytes; None for `none`."""
    return None if text == "none" else _count(text) * 1_000_000


def tell_made(paths: Sequence[Path]) -> None:
    """Print the files that were made."""
    from rocm_sdk.base.value_text import counted
    from rocm_sdk.terminal.output import remember_done

    if paths:
        remember_done(f"{counted(len(paths), 'file')} in {os.path.commonpath([path.parent for path in paths])}")
    for path in paths:
        print(path)


def wish_of(options: argparse.Namespace, artifacts: Sequence[Path], output: Path) -> Wish:
    """Return the wish of the arguments that `add_writing` has added.

    Raise PackagingError if pages are to be recorded without a check.
    """
    from rocm_sdk_build.packages.wish import Wish

    if options.record_pages and not options.check:
        raise PackagingError("--record-pages loads the packages where they are tested", "add --check")
    return Wish(
        artifacts,
        output,
        options.version,
        options.version_suffix,
        deflate=options.wheel_compression,
        devel_compression=options.devel_compression,
        is_checked=options.check,
        records_pages=options.record_pages,
        jobs=options.jobs,
        size_limit=options.size_limit,
        platform_tag=options.platform_tag,
        keeps_stack=options.keep_execstack,
        splits_debug=options.split_debug,
        loader=options.loader,
        brings_loader=not options.no_loader,
        dist=options.output,
    )
