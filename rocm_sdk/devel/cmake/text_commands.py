"""The commands of a CMake text. Everything is read only once, so hostile texts take no more time than others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

UNKNOWN = "\0"  # in a value: a part that only CMake can tell

# Blanks and comments of a line, a command's name with its parenthesis, and the kinds of arguments. The module re takes
# 140 bytes for each repetition of a group.
_BLANK = re.compile(r"(?:\s+|#(?!\[=*\[)[^\n]*){1,9999}")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(")
_BRACKET = re.compile(r"\[(=*)\[\n?")
_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*){0,99999})"', re.DOTALL)
_IN_PLAIN = r'[^\s()#"\\]+|\\.'
_PLAIN = re.compile(rf'(?:{_IN_PLAIN})(?:{_IN_PLAIN}|"[^"\\\n]*(?:\\.[^"\\\n]*){{0,99}}"){{0,9999}}', re.DOTALL)
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": "", ";": "\\;", "$": UNKNOWN, "@": UNKNOWN}


class Argument(NamedTuple):
    """An argument as it is written; references to variables stay."""

    text: str
    is_quoted: bool = False  # stays one argument, whatever is in it
    is_literal: bool = False  # has no references


class Command(NamedTuple):
    """A command. Parentheses among the arguments are arguments."""

    name: str  # in small letters
    arguments: tuple[Argument, ...]


def fault_of(text: str) -> str | None:
    """Return why CMake would refuse a text, perhaps one for configure_file; None if it would not."""
    if "\0" in text or not text.strip():
        return "it is empty, or not text"
    position = _after_blank(text, max((end for _, end in _commands_in(text)), default=0))
    is_read = text[position : position + 1] in {"", "@"}
    return None if is_read else f"line {text.count(chr(10), 0, position) + 1} begins no command that ends"


def commands_of(text: str, spend: Callable[[int, int], bool]) -> Iterator[Command]:
    """Yield the commands, up to the first place that CMake would refuse.

    spend: gets each argument and its characters, and returns whether to go on.
    """
    return (command for command, _ in _commands_in(text, spend))


def _commands_in(text: str, spend: Callable[[int, int], bool] | None = None) -> Iterator[tuple[Command, int]]:
    """Yield the commands, and the position after each. Without `spend`, they have no arguments."""
    position = 0
    while True:
        position = _after_blank(text, position)
        match = _NAME.match(text, position)
        if match is None:
            return
        arguments: list[Argument] = []
        argument: Argument | None
        position, depth = match.end(), 1
        while depth:
            position = _after_blank(text, position)
            sign = text[position : position + 1]
            if sign and sign in "()":
                depth += 1 if sign == "(" else -1
                argument, end = Argument(sign), position + 1
            else:
                argument, end = _argument(text, position)
            if argument is None or (spend is not None and not spend(2, end - position)):
                return
            position = end
            if depth and spend is not None:
                arguments.append(argument)
        yield Command(match[1].lower(), tuple(arguments)), position


def _after_blank(text: str, position: int) -> int:
    """Return the position after blanks and comments; the end of the text if a comment does not end."""
    while True:
        while (match := _BLANK.match(text, position)) is not None:
            position = match.end()
        opened = _BRACKET.match(text, position + 1) if text.startswith("#", position) else None
        if opened is None:
            return position
        position = _end_of_bracket(text, opened)[1]


def _argument(text: str, position: int) -> tuple[Argument | None, int]:
    """Return the argument at a position, and the position of its end; None for a text that is not an argument."""
    if (match := _BRACKET.match(text, position)) is not None:
        end, after = _end_of_bracket(text, match)
        return Argument(text[match.end() : end], is_quoted=True, is_literal=True), after
    if (match := _QUOTED.match(text, position)) is not None:
        return Argument(_unescaped(match[1]), is_quoted=True), match.end()
    if (match := _PLAIN.match(text, position)) is not None:
        return Argument(_unescaped(match[0])), match.end()
    return None, position


def _end_of_bracket(text: str, opened: re.Match[str]) -> tuple[int, int]:
    """Return the end of the text that a bracket encloses, and the position where the text goes on."""
    closing = f"]{opened[1]}]"
    end = text.find(closing, opened.end())
    return (end, end + len(closing)) if end >= 0 else (len(text), len(text))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text) if "\\" in text else text
