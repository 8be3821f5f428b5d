"""The command `rocm-sdk-build`: its arguments, its output, its errors."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import PackagingError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it worked, 1 with cause and fix on standard error if not."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s", level=logging.INFO if sys.stderr.isatty() else logging.WARNING)
    try:
        return int(options.run(options))
    except PackagingError as error:
        message, fix = str(error), error.fix
    except OSError as error:
        message, fix = f"{error.filename}: {error.strerror}" if error.filename else str(error), ""
    print(f"error: {message}", file=sys.stderr)
    if fix:
        print(f"fix: {fix}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rocm-sdk-build", description="Make wheels of a ROCm SDK.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    debian = commands.add_parser("debian", help="make core, libraries and development wheels from Debian's packages")
    _add_shape(debian, default=None)
    debian.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the wheels go")
    _add_cache(debian)
    debian.add_argument("--version", help="version of the wheels (default: that of Debian's HIP)")
    debian.set_defaults(run=_debian)

    dependencies = commands.add_parser(
        "dlopen-dependencies", help="list libraries that name other libraries without needing them"
    )
    dependencies.add_argument("directory", type=Path, metavar="DIR", help="an installed SDK")
    dependencies.set_defaults(run=_dlopen_dependencies)

    demo = commands.add_parser("demo", help="install SDK wheels in a virtual environment and preload their libraries")
    _add_shape(demo, default="none")
    demo.add_argument(
        "--sample", action="store_true", help="use tiny libraries compiled from C instead of Debian's ROCm"
    )
    demo.add_argument("--loader", type=Path, metavar="WHEEL", help="wheel of rocm-sdk-loader (the one in build/wheel)")
    demo.add_argument(
        "--directory",
        type=Path,
        default=Path("build/demo"),
        metavar="DIR",
        help="for wheels and environment (build/demo)",
    )
    _add_cache(demo)
    demo.set_defaults(run=_demo)
    return parser


def _add_shape(command: argparse.ArgumentParser, default: str | None) -> None:
    """How libraries find each other; required where there is no default."""
    note = "" if default is None else f" ({default})"
    command.add_argument(
        "--shape",
        choices=("none", "rpath", "runpath"),
        required=default is None,
        default=default,
        help=f"how libraries find each other{note}",
    )


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--cache",
        type=Path,
        default=Path("build/debian"),
        metavar="DIR",
        help="downloads and their files (build/debian)",
    )


def _debian(options: argparse.Namespace) -> int:
    from .debian_build import build_wheels
    from .site_tree import Shape

    for wheel in build_wheels(options.cache, Shape(options.shape), options.output, options.version):
        print(wheel)
    return 0


def _dlopen_dependencies(options: argparse.Namespace) -> int:
    from .dlopen_dependencies import find_dlopen_dependencies

    for dependency in find_dlopen_dependencies(options.directory):
        print(f"{dependency.library} -> {dependency.name}")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from .demo.command import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
