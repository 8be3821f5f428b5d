"""The reader of texts for pkg-config: the directories and modules that they name. Hostile texts take no extra time."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress

from .text_commands import UNKNOWN
from .text_reader import PACKAGE, PATH, Need

ENDING = ".pc"
_LINE = re.compile(r"([\w.]+)[ \t]*([=:])[ \t]*(.*)")
_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_VERSION = re.compile(r"[<>=!]+\s*[^\s,]+|,")
MOST_LONG = 1 << 16  # characters of a text
_MOST_OF_VALUE = 1 << 12  # characters
_SPLIT = 32  # cost of a character in a value that shlex splits


def needs_of(path: str, text: str, spend: Callable[[int, int], bool]) -> Iterator[Need]:
    """Yield the absolute directories of flags, and the required modules, by the names of their texts.

    A word with a variable that no earlier line sets does not count. spend: gets each line and value, and returns
    whether to go on.
    """
    variables = {"pcfiledir": posixpath.dirname(path), "pc_sysrootdir": ""}
    for line in text.replace("\\\n", "").splitlines() if len(text) <= MOST_LONG else ():
        name, sign, value = match.groups() if (match := _LINE.match(line)) is not None else ("", "", "")
        value = _REFERENCE.sub(lambda found: variables.get(found[1], UNKNOWN), value) if "$" in value else value
        if not spend(1, len(value) * _SPLIT):
            return
        value = value if len(value) <= _MOST_OF_VALUE else UNKNOWN
        if sign == "=":
            variables[name] = value
        elif name in {"Cflags", "Libs"}:
            with suppress(ValueError):  # a quotation without an end
                flags = [each[2:] for each in shlex.split(value) if each.startswith(("-I/", "-L/"))]
                yield from (Need(PATH, path, name, posixpath.normpath(each)) for each in flags if UNKNOWN not in each)
        elif name in {"Requires", "Requires.private"}:
            modules = _VERSION.sub(" ", value).split()
            yield from (Need(PACKAGE, path, "", f"{each}{ENDING}") for each in modules if UNKNOWN not in each)
