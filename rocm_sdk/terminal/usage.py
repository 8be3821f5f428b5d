"""Help and wrong usage of both programs: which word is wrong, what is like it, the usage of the command that has it."""

import argparse
import re
import textwrap
from functools import partial

from rocm_sdk._native import nearest_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import NoReturn

_NAMED = 2
# Words in the metavar of what names a file or a distribution.
_OF_FILES = {"DIR", "DISTRIBUTION", "FILE", "LIST", "PLACE", "PREFIX", "RECORD", "ROOT", "WHEEL"}
_OF_TARGETS = ("--gpu", "--keep", "--targets")  # options that take gfx targets

# Of all commands of both programs.
STATUSES = {
    0: "done, or the answer is yes",
    1: "failed, or the answer is no",
    2: "wrong usage",
    128: "the answer could not be written",
    130: "Ctrl-C",
}


def epilog(example: str, statuses: "Mapping[int, str] | None" = None) -> str:
    """The end of the help of a command. statuses: those of this command alone."""
    listed = sorted({**STATUSES, **(statuses or {})}.items())
    text = "; ".join(f"{number} {meaning}" for number, meaning in listed)
    return f"exit status: {text}\n\nexample: {example}"


class Parser(argparse.ArgumentParser):
    """A parser whose errors repeat no password: a word may be a URL."""

    def error(self, message: str) -> "NoReturn":
        if "://" in message:
            from rocm_sdk.base.value_text import without_passwords

            message = without_passwords(message)
        super().error(message)


def help_asked(words: "Sequence[str]") -> "Sequence[str]":
    """Return the words of a call with `help [COMMAND]` as `[COMMAND] --help`."""
    return [*words[1:2], "--help"] if words[:1] == ["help"] else words


def parse_words(
    parser: argparse.ArgumentParser, commands: "Collection[str]", words: "Sequence[str]"
) -> argparse.Namespace:
    """The options of a call. Wrong usage ends the process with status 2."""
    command = words[0] if words and not words[0].startswith("-") else None
    if command is not None and command not in commands:
        parser.error(f"there is no command {command!r}{_suggestion(command, commands)}")
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
    """A name of `kind`. In a script an empty one is the value of a variable that is not set; Path makes "." of it."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return kind(text)


def _parser_of(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """That of a subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            found: argparse.ArgumentParser = action.choices[command]
            return found
    return parser


def _like_option(word: str, parser: argparse.ArgumentParser) -> str:
    options = [name for name in parser._option_string_actions if name.startswith("--")]
    if word.startswith("gfx") and (of_targets := [name for name in _OF_TARGETS if name in options]):
        return f"; did you mean {of_targets[0]} {word}?"
    return _suggestion(word.partition("=")[0], options) if word.startswith("--") else ""


def _suggestion(word: str, names: "Collection[str]") -> str:
    """The names that begin with a word, else those that are like it."""
    begun = [name for name in names if len(word.strip("-")) > 1 and name.startswith(word)]
    near = begun[:_NAMED] or nearest_names(word, tuple(names), _NAMED)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class HelpFormatter(argparse.HelpFormatter):
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
