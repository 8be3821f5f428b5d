"""The command `rocm-sdk completion SHELL`, which prints the script with which a shell completes this command.

scripts/completion_scripts.py makes the scripts, and they are files beside this one.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk completion bash > ~/.local/share/bash-completion/completions/rocm-sdk"
DESCRIPTION = """\
Print the script with which a shell completes this command. Where to put it:

  bash    ~/.local/share/bash-completion/completions/rocm-sdk
  zsh     a file _rocm-sdk in a directory of $fpath
  fish    ~/.config/fish/completions/rocm-sdk.fish"""

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the argument: the shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: "Namespace") -> int:
    """Print the script, and return status 0."""
    print_script(__package__, options.shell)
    return 0


def print_script(package: str, shell: str) -> None:
    """Print the script of a shell that lies in a package."""
    from importlib.resources import files

    print((files(package) / "completions" / shell).read_text(encoding="utf-8"), end="")
