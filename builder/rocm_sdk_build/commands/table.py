"""The table of subcommands, and the parser of their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module

# Subcommand -> summary. Its module is NAME beside this file, "_" in it for "-", with add_arguments(command) and
# run(options).
COMMANDS = {
    "debian": "make all packages from Debian's packages of ROCm",
    "artifacts": "make all packages from the artifacts of a ROCm build",
    "prefix": "make all packages from an installed ROCm",
    "version": "compute the version of a build, for three package formats",
    "promote": "make a release of a release candidate's packages",
    "check": "check that packages are a whole SDK that works (then: index)",
    "index": "write pages from which pip and uv install (before: check)",
    "init-module": "write the module that brings up a framework's libraries",
    "code": "write files with less GPU code, or with the code in another container",
    "closure": "make an SDK of what an application needs for its GPUs",
    "clear-execstack": "make an installed library ask for no executable stack",
    "dlopen-dependencies": "list libraries that name other libraries without needing them",
    "demo": "install SDK wheels in a virtual environment and preload their libraries",
}


def add_commands(parser: argparse.ArgumentParser, wanted: Collection[str] = COMMANDS) -> None:
    """Adds all subcommands, those of `wanted` with their arguments: their modules alone are imported."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name in wanted:
            module = import_module(f"{__package__}.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
