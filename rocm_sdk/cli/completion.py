"""The command `rocm-sdk completion SHELL`, which prints the script with which a shell completes this command."""

from rocm_sdk.terminal.completion_script import SHELLS, Values, gpus, machine_and_gpus, script, shortnames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk completion bash > ~/.local/share/bash-completion/completions/rocm-sdk"
DESCRIPTION = """\
Print the script with which a shell completes this command. Where to put it:

  bash    ~/.local/share/bash-completion/completions/rocm-sdk
  zsh     a file _rocm-sdk in a directory of $fpath
  fish    ~/.config/fish/completions/rocm-sdk.fish"""


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the argument: the shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: "Namespace") -> int:
    """Print the script, and return status 0."""
    from .parser import make_parser

    preamble = {shell: text.replace("SHORTNAMES", " ".join(shortnames())) for shell, text in _PREAMBLE.items()}
    print(script(make_parser(), options.shell, Values(_WORDS, _FUNCTIONS, preamble)), end="")
    return 0


def _codes() -> list[str]:
    from rocm_sdk.problems import ENTRIES

    return list(ENTRIES)


def _subjects() -> list[str]:
    from rocm_sdk.problems.subject_table import SUBJECTS

    return [*SUBJECTS, *_codes()]


def _selections() -> list[str]:
    return ["sdk", *machine_and_gpus()]


def _kinds() -> list[str]:
    return ["discrete", "integrated", *machine_and_gpus()]


def _chosen_gpus() -> list[str]:
    return ["discrete", "integrated", "supported", *gpus()]


def _layers() -> list[str]:
    from rocm_sdk.cli.gpu_option import LAYERS

    return list(LAYERS)


def _purposes() -> list[str]:
    from .env import PURPOSES

    return list(PURPOSES)


# Subcommand and argument -> the values, which are part of the script.
_WORDS = {
    ("check", "gpu"): machine_and_gpus,
    ("check-gpu", "gpu"): machine_and_gpus,
    ("code", "keep"): machine_and_gpus,
    ("env", "gpu"): _chosen_gpus,
    ("env", "layer"): _layers,
    ("env", "purpose"): _purposes,
    ("env", "targets"): _selections,
    ("explain", "code"): _codes,
    ("install", "gpu"): _kinds,
    ("path", "shortnames"): shortnames,
    ("run", "gpu"): _chosen_gpus,
    ("run", "layer"): _layers,
    ("targets", "selection"): _selections,
    ("test", "only"): _subjects,
    ("test", "skip"): _subjects,
}

# Subcommand and argument -> the function of the preamble that offers values. Only the programs of `run` come from the
# installation.
_FUNCTIONS = {
    ("run", "program"): "_rocm_sdk_programs",
    ("tree", "names"): "_rocm_sdk_libraries_and_files",
}
_TOOLS = 'for each in bin lib/llvm/bin; do ls "$(rocm-sdk path --core)/$each"; done 2>/dev/null'
_PREAMBLE = {
    "bash": f"""\
_rocm_sdk_programs() {{
  compgen -c "$@"
  compgen -W '$({_TOOLS})' "$@"  # in single quotes: compgen expands names once, not what they hold
}}
_rocm_sdk_libraries_and_files() {{
  compgen -W "SHORTNAMES" "$@"
  compgen -f "$@"
}}""",
    "zsh": f"""\
_rocm_sdk_programs() {{
  compadd -- $({_TOOLS})
  _command_names
}}
_rocm_sdk_libraries_and_files() {{
  compadd -- SHORTNAMES
  _files
}}""",
    "fish": """\
function _rocm_sdk_programs
  set -l core (rocm-sdk path --core 2>/dev/null)
  command ls $core/bin $core/lib/llvm/bin 2>/dev/null
  __fish_complete_command
end
function _rocm_sdk_libraries_and_files
  string split ' ' 'SHORTNAMES'
  __fish_complete_path (commandline -ct)
end""",
}
