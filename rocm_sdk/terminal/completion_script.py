"""The scripts with which shells complete a command: made from its parser, and the TAB key starts no program."""

import re
import shlex
from argparse import Action, ArgumentParser, _AppendAction, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator, Mapping

from rocm_sdk.base.named_tuple import NamedTuple

Words = Callable[[], Iterable[str]]


class Values(NamedTuple):
    """The table of the values that the arguments of a command take.

    words: (subcommand, argument) -> the values
    functions: (subcommand, argument) -> the function of the preamble that offers values
    preamble: shell -> functions
    """

    words: Mapping[tuple[str, str], Words]
    functions: Mapping[tuple[str, str], str] = {}
    preamble: Mapping[str, str] = {}


def shortnames() -> list[str]:
    """Return the short names of libraries."""
    from rocm_sdk._native import catalog

    return [name for name, *_ in catalog()]


def families() -> list[str]:
    """Return the target families."""
    from rocm_sdk._native import targets

    return list(dict.fromkeys(family for each in targets() for family in each.families))


def gpus() -> list[str]:
    """Return the gfx targets and target families."""
    from rocm_sdk._native import targets

    return [*(each.name for each in targets()), *families()]


def machine_and_gpus() -> list[str]:
    """Return the word for the GPUs of this machine, the gfx targets and the target families."""
    return ["machine", *gpus()]


# The name of a value in the help -> the values.
_WORDS_OF: dict[str, Words] = {"FAMILIES": families, "TARGETS": machine_and_gpus}
# The name of a value in the help -> the paths that it stands for.
_PATHS_OF = {
    "FILE": "files",
    "FILE|DIRECTORY|WHEEL|DISTRIBUTION": "files",
    "PLACE": "files",
    "WHEEL": "files",
    "DIR": "directories",
    "ROOT": "directories",
}
_PATHS = frozenset(_PATHS_OF.values())
_ZSH_PATHS = {"files": "_files", "directories": "_files -/"}


class _Argument(NamedTuple):
    """An argument of a subcommand: its names (none if it is positional), its help, and the values that it takes."""

    names: tuple[str, ...]
    help: str
    takes: str  # the name of the value in the help; "" for an option without a value
    is_optional: bool
    is_repeated: bool
    words: tuple[str, ...]
    function: str  # files, directories, a function of the preamble, or ""


def script(parser: ArgumentParser, shell: str, values: Values) -> str:
    """Return the script with which a shell completes the program of a parser.

    parser: the parser with the arguments of all subcommands
    shell: one of SHELLS
    """
    subcommands = next(each for each in parser._actions if isinstance(each, _SubParsersAction))
    summaries = {each.dest: each.help or "" for each in subcommands._choices_actions}
    arguments = {
        name: [_argument(each, name, values) for each in subcommand._actions]
        for name, subcommand in subcommands.choices.items()
    }
    arguments[""] = [_argument(each, "", values) for each in parser._actions if each is not subcommands]
    first, *lines = _SHELLS[shell](parser.prog, summaries, arguments)
    return "\n".join([first, *filter(None, [values.preamble.get(shell)]), *lines, ""])


def _argument(action: Action, subcommand: str, values: Values) -> _Argument:
    key = (subcommand, action.dest)
    words = values.words.get(key) or _WORDS_OF.get(str(action.metavar)) or (lambda: action.choices or ())
    return _Argument(
        tuple(action.option_strings),
        " ".join((action.help or "").split()),
        "" if action.nargs == 0 else str(action.metavar or action.dest.upper()),
        action.nargs in ("?", "*"),
        isinstance(action, _AppendAction) or action.nargs in ("*", "+", "..."),
        tuple(words()),
        values.functions.get(key) or _PATHS_OF.get(str(action.metavar), ""),
    )


# ---- the shells ----


def _bash(program: str, summaries: Mapping[str, str], arguments: Mapping[str, list[_Argument]]) -> Iterator[str]:
    function = f"_{program.replace('-', '_')}"
    yield f"# The completion of {program} for bash."
    yield f"{function}() {{"
    yield "  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} subcommand= each offer=(:)"
    yield "  if [[ $word == = ]]; then word=; elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi"
    yield "  [[ $word != -* ]] || option="  # a value may be left out, and none begins with -
    yield '  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $each == -* ]] || { subcommand=$each; break; }; done'
    yield '  case "$subcommand $option" in'
    for name, rows in arguments.items():
        for row in rows:
            if row.names and row.takes:
                patterns = "|".join(f"'{name} {each}'" for each in row.names)
                yield f"    {patterns}) {_bash_offer(row)} ;;"
    yield '    *) case "$subcommand $word" in'
    for name, rows in arguments.items():
        options = " ".join(each for row in rows for each in row.names)
        yield f"      '{name} -'*) offer=(compgen -W '{options}') ;;"
    yield f"      ' '*) offer=(compgen -W '{' '.join(summaries)}') ;;"
    for name, rows in arguments.items():
        for row in [row for row in rows if not row.names][:1]:
            yield f"      '{name} '*) {_bash_offer(row)} ;;"
    yield "    esac ;;"
    yield "  esac"
    yield '  mapfile -t COMPREPLY < <("${offer[@]}" -- "$word")'
    yield "}"
    yield f"complete -F {function} {program}"


def _bash_offer(row: _Argument) -> str:
    if row.function in _PATHS:
        return f"offer=(compgen -{row.function[0]}); compopt -o filenames 2>/dev/null"
    if row.words:
        return f"offer=(compgen -W {shlex.quote(' '.join(row.words))})"
    return f"offer=({row.function or ':'})"


def _zsh(program: str, summaries: Mapping[str, str], arguments: Mapping[str, list[_Argument]]) -> Iterator[str]:
    yield f"#compdef {program}"
    yield f"_{program}() {{"
    yield "  local context state state_descr line subcommands; typeset -A opt_args"
    yield "  subcommands=("
    for name, summary in summaries.items():
        yield f"    {shlex.quote(f'{name}:{summary}')}"
    yield "  )"
    yield "  _arguments -C \\"
    for row in arguments[""]:
        yield from (f"    {each} \\" for each in _zsh_specifications(row))
    yield "    '1: :->subcommand' '*:: :->arguments'"
    yield "  case $state in"
    yield "    subcommand) _describe subcommand subcommands ;;"
    yield "    arguments) case $words[1] in"
    for name in summaries:
        yield f"      {name}) _arguments \\"
        for row in arguments[name]:
            yield from (f"        {each} \\" for each in _zsh_specifications(row))
        yield "        ;;"
    yield "    esac ;;"
    yield "  esac"
    yield "}"
    yield f'if [[ $funcstack[1] == _{program} ]]; then _{program} "$@"; else compdef _{program} {program}; fi'


def _zsh_specifications(row: _Argument) -> Iterator[str]:
    """Yield what `_arguments` takes for an argument: a word for each of its names, or for a positional argument."""
    colons = "::" if row.is_optional else ":"
    action = _ZSH_PATHS.get(row.function, row.function) or (f"({' '.join(row.words)})" if row.words else " ")
    value = f"{colons}{_zsh_text(row.takes)}:{action}" if row.takes else ""
    star = "*" if row.is_repeated else ""
    for name in row.names:
        equals = "=" if row.takes and name.startswith("--") else ""
        yield shlex.quote(f"{star}{name}{equals}[{_zsh_text(row.help)}]{value}")
    if not row.names:
        yield shlex.quote(f"{star}{value}")


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\\[\]:])", r"\\\1", text)


def _fish(program: str, summaries: Mapping[str, str], arguments: Mapping[str, list[_Argument]]) -> Iterator[str]:
    function = f"_{program.replace('-', '_')}_is"
    yield f"# The completion of {program} for fish."
    yield f"function {function}"
    yield "  for word in (commandline -opc)[2..]"
    yield "    string match -q -- '-*' $word; and continue"
    yield '    test $word = "$argv"; return'
    yield "  end"
    yield '  test -z "$argv"'
    yield "end"
    yield f"complete -c {program} -f"
    for name, summary in summaries.items():
        yield f"complete -c {program} -n {function} -a {name} -d {_fish_text(summary)}"
    for name, rows in arguments.items():
        for row in rows:
            names = " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in row.names)
            takes = f"{'' if row.is_optional else '-r '}{_fish_offer(row)}" if row.takes else ""
            parts = [f"complete -c {program} -n '{function} {name}'", names, takes, f"-d {_fish_text(row.help)}"]
            yield " ".join(filter(None, parts))


def _fish_offer(row: _Argument) -> str:
    if row.function in _PATHS:
        return "-F" if row.function == "files" else "-f -a '(__fish_complete_directories)'"
    offered = f"({row.function})" if row.function else " ".join(row.words)
    return f"-f -a '{offered}'" if offered else ""


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
SHELLS = tuple(_SHELLS)
