"""The table of subcommands, and the parser of their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module

from rocm_sdk import loader_version
from rocm_sdk.terminal.output_options import add_output_options
from rocm_sdk.terminal.usage import HelpFormatter, Parser, epilog

# Subcommand -> summary. The module of a subcommand is NAME beside this file, with "_" for "-", and has
# add_arguments(command) and run(options).
COMMANDS = {
    "debian": "make all packages from Debian's packages of ROCm",
    "artifacts": "make all packages from the artifacts of a ROCm build",
    "prefix": "make all packages from an installed ROCm",
    "version": "compute the version of a build, for three package formats",
    "promote": "make a release from a release candidate's packages",
    "check": "check that packages are a complete SDK that works (then: index)",
    "index": "write pages from which pip and uv install (before: check)",
    "init-module": "write the module that loads a framework's libraries",
    "code": "write files with less GPU code, or with the code in another container",
    "closure": "make an SDK of only what an application needs for its GPUs",
    "clear-execstack": "make an installed library no longer ask for an executable stack",
    "dlopen-dependencies": "list libraries that name other libraries without needing them",
    "demo": "install SDK wheels in a virtual environment and preload their libraries",
    "completion": "print the completion script for a shell",
}


# Subcommand -> an example, which can be typed.
EXAMPLES = {
    "debian": "rocm-sdk-build debian --output dist",
    "artifacts": "rocm-sdk-build artifacts --artifact-dir artifacts --output dist --version 7.10.0",
    "prefix": "rocm-sdk-build prefix /opt/rocm --output dist --version 7.1.2 --families gfx94X-dcgpu",
    "version": "rocm-sdk-build version --release-type nightly",
    "promote": "rocm-sdk-build promote candidate --output release --version 7.10.0",
    "check": "rocm-sdk-build check dist",
    "index": "rocm-sdk-build index dist",
    "init-module": "rocm-sdk-build init-module --for libtorch_hip.so --output _rocm_init.py",
    "code": "rocm-sdk-build code librocblas.so.5 --keep gfx942 --output small",
    "closure": "rocm-sdk-build closure --for torch --gpu gfx942 --output closure",
    "clear-execstack": "rocm-sdk-build clear-execstack librocsolver.so.0",
    "dlopen-dependencies": "rocm-sdk-build dlopen-dependencies _rocm_sdk_core",
    "demo": "rocm-sdk-build demo --sample",
    "completion": "rocm-sdk-build completion bash > ~/.local/share/bash-completion/completions/rocm-sdk-build",
}


def make_parser(wanted: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the subcommands `wanted`; their modules alone are imported."""
    parser = Parser(
        prog="rocm-sdk-build",
        description="Make wheels of a ROCm SDK.",
        epilog="rocm-sdk-build help COMMAND, or rocm-sdk-build COMMAND --help, describes a command;"
        " rocm-sdk-build help options, the options that all have.",
    )
    own = f"rocm-sdk-build {loader_version}"  # rocm-sdk-build requires the loader of its own version
    parser.add_argument("-V", "--version", action="version", version=own)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, formatter_class=HelpFormatter, epilog=epilog("rocm-sdk-build", EXAMPLES[name])
        )
        if name in wanted:
            module = import_module(f"{__package__}.{name.replace('-', '_')}")
            module.add_arguments(command)
            add_output_options(command)
            command.set_defaults(run=module.run)
    return parser
