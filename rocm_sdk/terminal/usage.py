"""The help and wrong usage of both programs: the wrong word, similar words, and the usage of its command."""

import argparse
import re
import sys
import textwrap
from functools import partial

from rocm_sdk.base.meant import did_you_mean, question

from .output_options import OUTPUT, add_output_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import NoReturn

_NAMED = 2
# Words in the metavar of an option or argument that names a file or a distribution.
_OF_FILES = {"DIR", "DISTRIBUTION", "FILE", "LIST", "PLACE", "PREFIX", "RECORD", "ROOT", "WHEEL"}
_OF_TARGETS = ("--gpu", "--keep", "--targets")  # options that take gfx targets

# The exit statuses of all commands of both programs.
STATUSES = {
    0: "done, or the answer is yes",
    1: "failed, or the answer is no",
    2: "wrong usage",
    128: "the answer could not be written",
    130: "Ctrl-C",
}


def epilog(program: str, example: str, statuses: "Mapping[int, str] | None" = None) -> str:
    """Return the end of the help of a command. statuses: the exit statuses that only this command has."""
    own = f"{_statuses_text(statuses)}\n\n" if statuses else ""
    return f"{own}{program} help options: -q, -v, --color, --progress, exit statuses\n\nexample: {example}"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are a line without passwords, and a line that says what to do.

    A word may be a URL, whose password is not repeated. The help leaves out the options that all commands have.
    groups: title in the help -> the subcommands below it; {}: there is one list.
    """

    groups: "Mapping[str, Collection[str]]" = {}  # noqa: RUF012

    def error(self, message: str) -> "NoReturn":
        """End with status 2."""
        text = " ".join(message.split())
        if "://" in text or not text.isprintable():
            from rocm_sdk.base.value_text import harmless, without_passwords

            text = harmless(without_passwords(text))
        lines = [f"{self.prog}: error: {text}"]
        if sys.stderr.isatty():
            from .style import width_of, wrapped

            lines = list(wrapped(lines[0], width_of(sys.stderr), "  "))
        self.exit(2, "".join(f"{line}\n" for line in (*lines, f"  see: {self.prog} --help")))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a value that is not a choice, and name similar choices first."""
        if action.choices is None or value in action.choices:
            return
        names = [str(each) for each in action.choices]
        meant = did_you_mean(str(value), names, _NAMED)
        what = f"there is no {str(value)!r} among {', '.join(names)}"
        raise argparse.ArgumentError(action, f"{meant} {what}".lstrip())

    def format_help(self) -> str:
        """Return the help without the options that all commands have."""
        formatter = self._get_formatter()
        hidden = [action for group in self._action_groups if group.title == OUTPUT for action in group._group_actions]
        shown = [action for action in self._actions if action not in hidden]
        formatter.add_usage(self.usage, shown, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for group in self._action_groups:
            for title, actions in self._sections(group):
                formatter.start_section(title)
                formatter.add_text(group.description)
                formatter.add_arguments(actions)
                formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _sections(self, group: argparse._ArgumentGroup) -> "Iterable[tuple[str | None, Sequence[argparse.Action]]]":
        """Yield the titles and arguments that the help has for a group."""
        commands = [each for each in group._group_actions if isinstance(each, argparse._SubParsersAction)]
        if self.groups and commands:
            shown = {each.dest: each for each in commands[0]._choices_actions}
            yield from ((title, [shown[name] for name in names]) for title, names in self.groups.items())
        elif group.title != OUTPUT:
            yield group.title, group._group_actions


def help_asked(words: "Sequence[str]", program: str) -> "Sequence[str]":
    """Return the words of a call with `help [COMMAND]` as `[COMMAND] --help`. `help options` prints and ends."""
    if words[:1] != ["help"]:
        return words
    if words[1:2] == ["options"]:
        parser = argparse.ArgumentParser(
            prog=f"{program} COMMAND",
            description=f"Options and exit statuses of all commands of {program}.",
            formatter_class=HelpFormatter,
            epilog=_statuses_text(STATUSES),
            add_help=False,
        )
        add_output_options(parser)
        sys.stdout.write(parser.format_help())
        raise SystemExit(0)
    return [*words[1:2], "--help"]


def _statuses_text(statuses: "Mapping[int, str]") -> str:
    return f"exit status: {'; '.join(f'{number} {meaning}' for number, meaning in sorted(statuses.items()))}"


def parse_words(
    parser: argparse.ArgumentParser,
    commands: "Collection[str]",
    words: "Sequence[str]",
    of_other_tools: "Mapping[str, str] | None" = None,
) -> argparse.Namespace:
    """Return the options of a call. Wrong usage ends the process with status 2.

    of_other_tools: a command of another tool -> the command that does the same here.
    """
    command = words[0] if words and not words[0].startswith("-") else None
    if command is not None and command not in commands:
        same = (of_other_tools or {}).get(command)
        parser.error(
            f"there is no command {command!r}{f'; {question([same])}' if same else _suggestion(command, commands)}"
        )
    known = parser._option_string_actions
    if command is None and words and not any(each.startswith(words[0].partition("=")[0]) for each in known):
        parser.error(f"unrecognized arguments: {words[0]}{_like_option(words[0], parser)}")
    asked = _parser_of(parser, command)
    for action in asked._actions:
        if not _OF_FILES.isdisjoint(str(action.metavar).split("|")):
            action.type = partial(_named, action.type if callable(action.type) else str)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        near = "".join(_like_option(word, asked) for word in unknown)
        asked.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
    return options


def _named(kind: "Callable[[str], object]", text: str) -> object:
    """Return a name as a value of `kind`. Raise ArgumentTypeError for an empty name.

    In a script, an empty name comes from an unset variable; Path turns it into ".".
    """
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return kind(text)


def _parser_of(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """Return the parser of a subcommand; `parser` itself if there is none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            found: argparse.ArgumentParser = action.choices[command]
            return found
    return parser


def _like_option(word: str, parser: argparse.ArgumentParser) -> str:
    options = [name for name in parser._option_string_actions if name.startswith("--")]
    if word.startswith("gfx") and (of_targets := [name for name in _OF_TARGETS if name in options]):
        return f"; {question([f'{of_targets[0]} {word}'])}"
    return _suggestion(word.partition("=")[0], options) if word.startswith("--") else ""


def _suggestion(word: str, names: "Collection[str]") -> str:
    """Return words for the names that begin with a word, or else for those that are similar.

    The result is "" if there are none.
    """
    begun = [name for name in names if len(word.strip("-")) > 1 and name.startswith(word)]
    meant = question(begun[:_NAMED]) or did_you_mean(word, names, _NAMED)
    return f"; {meant}" if meant else ""


class HelpFormatter(argparse.HelpFormatter):
    """The formatter of descriptions at the width of the terminal: paragraphs, and lists whose lines are indented.

    An example is one line, to be copied.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = re.sub(r"(?<=\S)\n(?=\S)", " ", text).splitlines()
        return "".join(f"{indent}{line}\n" for each in lines for line in _broken(each, width - len(indent)))


def _broken(line: str, width: int) -> list[str]:
    if not line or line.startswith("example: "):
        return [line]
    column = max(match.end() for match in re.finditer(r"^ *|(?<=\S) {2,}", line))  # the beginning of an item's text
    return textwrap.wrap(
        line[column:],
        width,
        initial_indent=line[:column],
        subsequent_indent=" " * column,
        break_long_words=False,
        break_on_hyphens=False,
    )
