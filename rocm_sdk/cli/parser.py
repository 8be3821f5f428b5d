"""Options, help and usage errors of all subcommands, by argparse."""

import argparse
import re
import textwrap
from collections.abc import Callable, Collection

from rocm_sdk._native import loader_version, nearest_names

from .commands import COMMANDS, module_of


def parse(arguments: list[str]) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """The function to run, and its arguments. Wrong usage ends the process with status 2, `--help` with 0."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    parser = make_parser(arguments[:1])
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        near = " or ".join(nearest_names(arguments[0], tuple(COMMANDS), 2))
        parser.error(f"there is no command {arguments[0]!r}{near and f'; did you mean {near}?'}")
    options = parser.parse_args(arguments)
    return options.run, options


def make_parser(wanted: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser, with the arguments of the subcommands `wanted`; their modules alone are imported.

    Shell completion has those of all.
    """
    parser = argparse.ArgumentParser(
        prog="rocm-sdk",
        description="Ask about the ROCm SDK that is installed here.",
        formatter_class=_Formatter,
        epilog="rocm-sdk help COMMAND, or rocm-sdk COMMAND --help, tells about a command.",
    )
    parser.add_argument("--version", action="version", version=f"rocm-sdk-loader {loader_version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=_Formatter)
        if name in wanted:
            module = module_of(name)
            command.description = getattr(module, "DESCRIPTION", f"{summary[0].upper()}{summary[1:]}.")
            command.epilog = f"example: {module.EXAMPLE}"
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


class _Formatter(argparse.HelpFormatter):
    """Breaks descriptions at the width of the terminal: paragraphs, and lists whose lines are indented.

    An example is one line, to be copied.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = re.sub(r"(?<=\S)\n(?=\S)", " ", text).splitlines()
        return "".join(f"{indent}{line}\n" for each in lines for line in _broken(each, width - len(indent)))


def _broken(line: str, width: int) -> list[str]:
    if not line or line.startswith("example: "):
        return [line]
    column = max(match.end() for match in re.finditer(r"^ *|(?<=\S) {2,}", line))  # where the text of an item begins
    return textwrap.wrap(
        line[column:],
        width,
        initial_indent=line[:column],
        subsequent_indent=" " * column,
        break_long_words=False,
        break_on_hyphens=False,
    )
