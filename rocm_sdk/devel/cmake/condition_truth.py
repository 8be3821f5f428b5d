"""The conditions of CMake's if(): True, False, or None if only CMake can tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .text_commands import UNKNOWN

Truth = bool | None


class Word(NamedTuple):
    """An argument of if() with its references replaced."""

    text: str
    is_quoted: bool = False


class Asked(NamedTuple):
    """The functions that answer the questions of a condition."""

    variable: Callable[[str], str | None]  # the value; UNKNOWN; None: there is no such variable
    has_target: Callable[[str], Truth]
    exists: Callable[[str], Truth]
    is_link: Callable[[str], Truth]


_TRUE = re.compile(r"1|ON|YES|TRUE|Y|-?[1-9][0-9]*", re.IGNORECASE)
_FALSE = re.compile(r"0|OFF|NO|FALSE|N|IGNORE|NOTFOUND|.*-NOTFOUND|", re.IGNORECASE)
_COMPARED: dict[str, Callable[[int], bool]] = {
    "LESS": lambda sign: sign < 0,
    "GREATER": lambda sign: sign > 0,
    "EQUAL": lambda sign: sign == 0,
    "LESS_EQUAL": lambda sign: sign <= 0,
    "GREATER_EQUAL": lambda sign: sign >= 0,
}
_PATTERN = re.compile(r"(\^|\.\*)?([\w/ -]*)(\$|\.\*)?")  # the patterns of MATCHES that take no time
_OPERATORS = {"STREQUAL", "MATCHES", "IN_LIST", "PATH_EQUAL", "IS_NEWER_THAN"}
_OPERATORS |= {f"{kind}{name}" for kind in ("", "STR", "VERSION_") for name in _COMPARED}
_LONGEST_VERSION = 256
_MOST_DEEP = 64  # parentheses and NOTs


def truth_of(words: Sequence[Word], asked: Asked) -> Truth:
    """Return whether a condition holds; None if only CMake can tell."""
    reader = _Reader(words, asked)
    truth = reader.either(0)
    return truth if reader.is_read else None


class _Reader:
    """A reader of words, one after the other."""

    def __init__(self, words: Sequence[Word], asked: Asked) -> None:
        self._words, self._asked, self._at = words, asked, 0

    @property
    def is_read(self) -> bool:
        return self._at == len(self._words)

    def either(self, depth: int) -> Truth:
        """Read terms with OR between them, and return their truth."""
        truth = self._both(depth)
        while self._takes("OR"):
            other = self._both(depth)
            truth = True if True in (truth, other) else None if None in (truth, other) else False
        return truth

    def _both(self, depth: int) -> Truth:
        truth = self._term(depth)
        while self._takes("AND"):
            other = self._term(depth)
            truth = False if False in (truth, other) else None if None in (truth, other) else True
        return truth

    def _term(self, depth: int) -> Truth:
        if depth > _MOST_DEEP:
            return None
        if self._takes("NOT"):
            truth = self._term(depth + 1)
            return None if truth is None else not truth
        if self._takes("("):
            truth = self.either(depth + 1)
            return truth if self._takes(")") else None
        return self._test()

    def _test(self) -> Truth:
        """Read a test of one argument, or a comparison of two, or a value, and return its truth."""
        first = self._next()
        if first is None:
            return False  # an empty condition
        following = self._words[self._at] if self._at < len(self._words) else None
        if not first.is_quoted and following is not None and following.text not in {")", *_OPERATORS, "AND", "OR"}:
            self._at += 1
            return self._unary(first.text, following.text)
        if following is not None and not following.is_quoted and following.text in _OPERATORS:
            self._at += 1
            second = self._next()
            return None if second is None else self._compared(first, following.text, second)
        if UNKNOWN in first.text:
            return None
        if _TRUE.fullmatch(first.text) is not None:
            return True
        if first.is_quoted or _FALSE.fullmatch(first.text) is not None:
            return False
        value = self._asked.variable(first.text)
        return None if value is not None and UNKNOWN in value else _FALSE.fullmatch(value or "") is None

    def _unary(self, name: str, operand: str) -> Truth:
        if UNKNOWN in operand:
            return None
        if name == "DEFINED":
            value = None if operand.startswith(("ENV{", "CACHE{")) else self._asked.variable(operand)
            return None if value == UNKNOWN or "{" in operand else value is not None
        if name == "TARGET":
            return self._asked.has_target(operand)
        if name == "POLICY":
            return True
        if name == "IS_SYMLINK":
            return self._asked.is_link(operand)
        return self._asked.exists(operand) if name in {"EXISTS", "IS_DIRECTORY"} else None

    def _compared(self, first: Word, operator: str, second: Word) -> Truth:
        left, right = self._dereferenced(first), second.text if operator == "MATCHES" else self._dereferenced(second)
        if UNKNOWN in left or UNKNOWN in right:
            return None
        if operator in {"STREQUAL", "PATH_EQUAL"}:
            return left == right
        if operator == "MATCHES":
            match = _PATTERN.fullmatch(right)
            return None if match is None else _matches(left, *match.groups(default=""))
        if operator in {"IN_LIST", "IS_NEWER_THAN"} or operator.startswith("STR"):
            return None
        numbers = [_numbers(each) for each in (left, right)]
        if None in numbers:
            return None
        return _COMPARED[operator.removeprefix("VERSION_")]((numbers[0] > numbers[1]) - (numbers[0] < numbers[1]))  # type: ignore[operator]

    def _dereferenced(self, word: Word) -> str:
        value = None if word.is_quoted else self._asked.variable(word.text)
        return word.text if value is None else value

    def _next(self) -> Word | None:
        if self.is_read:
            return None
        self._at += 1
        return self._words[self._at - 1]

    def _takes(self, name: str) -> bool:
        if self.is_read or self._words[self._at] != Word(name):
            return False
        self._at += 1
        return True


def _matches(text: str, beginning: str, middle: str, end: str) -> bool:
    if beginning == "^":
        return text == middle if end == "$" else text.startswith(middle)
    return text.endswith(middle) if end == "$" else middle in text


def _numbers(text: str) -> list[int] | None:
    """Return the parts of a version without trailing zeros; None for a text that is not a version."""
    parts = text.split(".") if len(text) <= _LONGEST_VERSION else [""]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    numbers = [int(part) for part in parts]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers
