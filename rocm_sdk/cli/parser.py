"""Options, help and usage errors of all subcommands, by argparse."""

import argparse
from collections.abc import Callable
from importlib import import_module

from rocm_sdk._native import loader_version

from . import COMMANDS


def parse(arguments: list[str]) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """The function to run, and its arguments. Wrong usage ends the process with status 2, `--help` with 0."""
    options = make_parser().parse_args(arguments)
    return options.run, options


def make_parser() -> argparse.ArgumentParser:
    """The parser of all subcommands. Documentation and shell completion use it too."""
    parser = argparse.ArgumentParser(prog="rocm-sdk", description="Ask about the ROCm SDK that is installed here.")
    parser.add_argument("--version", action="version", version=f"rocm-sdk-loader {loader_version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        module = import_module(f".{name}", __package__)
        command = commands.add_parser(
            name,
            help=summary,
            description=getattr(module, "DESCRIPTION", f"{summary[0].upper()}{summary[1:]}."),
            epilog=f"example: {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
