"""`rocm-sdk completion SHELL`: the script with which a shell completes the words of this command. shtab makes it."""

from typing import TYPE_CHECKING

from rocm_sdk.errors import RocmSdkError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk completion bash > ~/.local/share/bash-completion/completions/rocm-sdk"
DESCRIPTION = """\
Print the script with which a shell completes the words of this command. Where it belongs:

  bash    ~/.local/share/bash-completion/completions/rocm-sdk
  zsh     a file _rocm-sdk in a directory of $fpath
  fish    ~/.config/fish/completions/rocm-sdk.fish"""

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: "ArgumentParser") -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: "Namespace") -> int:
    """Prints the script; RocmSdkError where shtab is not installed."""
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise RocmSdkError(
            "completion scripts are made by the Python package shtab, which is not installed",
            'pip install "rocm-sdk-loader[completion]"',
        ) from error
    from .parser import make_parser

    print(shtab.complete(make_parser(), shell=options.shell))
    return 0
