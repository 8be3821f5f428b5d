"""Options, help and usage errors of all subcommands, by argparse."""

import argparse
from collections.abc import Callable
from importlib import import_module

from rocm_sdk._native import loader_version, nearest_names

# Subcommand -> summary. Its module is rocm_sdk.cli.NAME, "_" in it for "-", with add_arguments(parser), run(options)
# and EXAMPLE.
COMMANDS = {
    "adopt": "take over the files that AMD's distribution rocm also installs",
    "check-gpu": "check whether the installed libraries have code for a GPU",
    "code": "print the GPU code that files hold: targets, sizes, containers",
    "completion": "print the completion script for a shell",
    "env": "print the variables that a build needs, for a shell to evaluate",
    "explain": "explain a problem code of `rocm-sdk test` or of an error",
    "gpus": "print the GPUs of this machine, and why one cannot be used",
    "info": "show everything about this installation",
    "init": "extract the development tree, or update it",
    "list": "print the libraries that have a short name, and their files",
    "path": "print the file of a library, or a directory of the SDK",
    "run": "run a program that finds this SDK's libraries and tools",
    "store": "manage the store of development files that environments share",
    "targets": "print the gfx targets that the SDK was built for, or flags to build for targets",
    "test": "check the installation and show how to fix what is wrong",
    "tree": "show what loading libraries brings into a process",
    "version": "print the version of the installed SDK",
}


def parse(arguments: list[str]) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """The function to run, and its arguments. Wrong usage ends the process with status 2, `--help` with 0."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    parser = make_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        near = " or ".join(nearest_names(arguments[0], tuple(COMMANDS), 2))
        parser.error(f"there is no command {arguments[0]!r}{near and f'; did you mean {near}?'}")
    options = parser.parse_args(arguments)
    return options.run, options


def make_parser() -> argparse.ArgumentParser:
    """The parser of all subcommands. Documentation and shell completion use it too."""
    parser = argparse.ArgumentParser(
        prog="rocm-sdk",
        description="Ask about the ROCm SDK that is installed here.",
        epilog="rocm-sdk help COMMAND, or rocm-sdk COMMAND --help, tells about a command.",
    )
    parser.add_argument("--version", action="version", version=f"rocm-sdk-loader {loader_version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        module = import_module(f".{name.replace('-', '_')}", __package__)
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
