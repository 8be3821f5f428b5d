"""The terminal: its width, its characters, colour. NO_COLOR (https://no-color.org) turns colour off, FORCE_COLOR on."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    Style = Callable[[str], str]

_CODES = {"bold": 1, "faint": 2, "error": "1;31", "warning": "1;33", "note": 36, "good": 32}
_USUAL_WIDTH = 80  # of a terminal that does not say


def style(name: str, stream: "TextIO") -> "Style":
    """A function that paints text, by a key of _CODES, if `stream` shows it, and else returns it unchanged."""
    if not _has_colour(stream):
        return str
    return lambda text: f"\033[{_CODES[name]}m{text}\033[0m"


def _has_colour(stream: "TextIO") -> bool:
    """NO_COLOR counts before FORCE_COLOR, and both before what the stream is."""
    if os.environ.get("NO_COLOR"):
        return False
    if (forced := os.environ.get("FORCE_COLOR")) is not None and forced != "":
        return forced != "0"
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def width_of(stream: "TextIO") -> int | None:
    """The columns of a terminal; None for anything else, where lines are not cut."""
    if not stream.isatty():
        return None
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def wrapped(line: str, width: int, indent: str = "") -> "Iterator[str]":
    """Breaks a line between words; all lines but the first begin with `indent`."""
    rest = ""
    for word in line.split():
        if rest and len(rest) + 1 + len(word) > width:
            yield rest
            rest = indent + word
        else:
            rest = f"{rest} {word}" if rest else word
    yield rest


def can_show(text: str, stream: "TextIO") -> bool:
    """Whether the encoding of `stream` has all characters of `text`."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
