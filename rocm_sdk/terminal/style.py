"""The terminal: its width, its characters, colour.

NO_COLOR (https://no-color.org) turns colour off, FORCE_COLOR on.
"""

import os

from rocm_sdk.base.given import given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    Style = Callable[[str], str]

_CODES = {"bold": 1, "faint": 2, "error": "1;31", "warning": "1;33", "note": 36, "good": 32}
_SHELL_WORD = r"""(?:'[^']*'|"[^"]*"|\\.|\S)+"""
_USUAL_WIDTH = 80  # the width of a terminal that does not report it
_LEAST_COLUMNS = 24  # the columns of a terminal that the last column of a table needs
_NARROW_COLUMN = 4  # where it begins on a terminal that has fewer for it


def style(name: str, stream: "TextIO") -> "Style":
    """Return a function that paints text, by a key of _CODES, if `stream` shows it, and else returns it unchanged."""
    if not _has_colour(stream):
        return str
    return lambda text: f"\033[{_CODES[name]}m{text}\033[0m"


def _has_colour(stream: "TextIO") -> bool:
    """Return whether a stream shows colour.

    --color overrides NO_COLOR, NO_COLOR overrides FORCE_COLOR, and these override what the stream is.
    """
    if given.color != "auto":
        return given.color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR")) is not None and forced != "":
        return forced != "0"
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def width_of(stream: "TextIO") -> int | None:
    """Return the columns of a terminal; None for anything else, where lines are not cut."""
    if not stream.isatty():
        return None
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def wrapped(text: str, width: int | None, indent: str = "", start: str = "") -> "Iterator[str]":
    """Yield the lines of a text after `start`, wrapped between words if it is longer than `width`.

    All lines except the first begin with `indent`. width: from `width_of`; None if nothing is too long.
    """
    if width is None or len(start) + len(text) <= width:
        yield start + text
    else:
        yield from _broken(start, text.split(), width, indent)


def wrapped_fix(label: str, fix: str, width: int | None, indent: str, *, is_command: bool) -> "Iterator[str]":
    """Yield the lines of a fix after a label, which can be pasted into a shell if they are a command.

    The shell sees one command in them, with its remark after `#`.
    """
    if width is None or len(label) + len(fix) <= width or not is_command:
        yield from wrapped(fix, width, indent, label)
        return
    import re

    command, mark, remark = fix.partition("  # ")
    lines = list(_broken(label, re.findall(_SHELL_WORD, command), width - len(" \\"), indent))
    yield from (f"{line} \\" for line in lines[:-1])
    yield lines[-1]
    if mark:
        yield from _broken(f"{indent}# ", remark.split(), width, f"{indent}# ")


def _broken(start: str, words: list[str], width: int, indent: str) -> "Iterator[str]":
    line, is_begun = start, False
    for word in words:
        if is_begun and len(line) + 1 + len(word) > width:
            yield line
            line, is_begun = indent, False
        line = f"{line} {word}" if is_begun else line + word
        is_begun = True
    yield line


def row_lines(first: str, last: str, columns: int | None) -> "Iterator[tuple[str, str]]":
    """Yield the lines of a row of two cells, each line in two parts: the text left of the last cell, and a part of it.

    columns: from `width_of`. The last cell is wrapped between its words; a single word is not broken.
    """
    if not last or columns is None or len(first) + 2 + len(last) <= columns:
        yield (f"{first}  ", last) if last else (first.rstrip(), "")
        return
    place = len(first) + 2
    column = column_of(place, columns)
    if column == place and " " not in last and _NARROW_COLUMN + len(last) <= columns:
        column = _NARROW_COLUMN
    start = f"{first}  "
    if column < place and (" " in last or _NARROW_COLUMN + len(last) <= columns):
        if first.strip():
            yield first.rstrip(), ""
        start = " " * column
    for line in wrapped(last, columns - column):
        yield start, line
        start = " " * column


def column_of(place: int, columns: int | None) -> int:
    """Return the column of a text that is to begin at `place`.

    The column is further left if `place` leaves too few columns.
    """
    return place if columns is None or columns - place >= _LEAST_COLUMNS else _NARROW_COLUMN


def can_show(text: str, stream: "TextIO") -> bool:
    """Return whether the encoding of `stream` has all characters of `text`."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
