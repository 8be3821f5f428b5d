"""The options, help and usage errors of all subcommands, by argparse."""

import argparse
from collections.abc import Callable, Collection

from rocm_sdk._native import loader_version
from rocm_sdk.terminal.output_options import add_output_options
from rocm_sdk.terminal.usage import HelpFormatter, Parser, epilog, help_asked, parse_words

from .commands import COMMANDS, GROUPS, OF_OTHER_TOOLS, STATUSES, module_of
from .compiler_flags import OPTIONS, Alone


def parse(arguments: list[str]) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """Return the function to run, and its arguments. Wrong usage ends the process with status 2, `--help` with 0."""
    words = help_asked(arguments, "rocm-sdk")
    parser = make_parser(words[:1])
    options = parse_words(parser, COMMANDS, words, OF_OTHER_TOOLS)
    return options.run, options


def make_parser(wanted: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the subcommands `wanted`; only their modules are imported.

    Shell completion wants the arguments of all subcommands.
    """
    parser = Parser(
        prog="rocm-sdk",
        description="Ask about the ROCm SDK that is installed here.",
        formatter_class=HelpFormatter,
        epilog="rocm-sdk help COMMAND, or rocm-sdk COMMAND --help, describes a command; rocm-sdk help options, the"
        " options that all have.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"rocm-sdk-loader {loader_version}")
    for name, what in OPTIONS.items():
        parser.add_argument(name, action=Alone, nargs=0, default=argparse.SUPPRESS, help=what)
    parser.groups = {f"{group} ({words})": names for group, (words, names) in GROUPS.items()}
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=HelpFormatter)
        if name in wanted:
            module = module_of(name)
            command.description = getattr(module, "DESCRIPTION", f"{summary[0].upper()}{summary[1:]}.")
            command.epilog = epilog("rocm-sdk", module.EXAMPLE, STATUSES.get(name))
            module.add_arguments(command)
            add_output_options(command)
            command.set_defaults(run=module.run)
    return parser
