"""Bold and faint text, on terminals only; NO_COLOR (https://no-color.org) turns it off."""

import os
from collections.abc import Callable
from typing import TextIO

Style = Callable[[str], str]

_CODES = {"bold": 1, "faint": 2}


def style(name: str, stream: TextIO) -> Style:
    """A function that makes text `bold` or `faint` where `stream` shows it, and else leaves it alone."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return str
    return lambda text: f"\033[{_CODES[name]}m{text}\033[0m"
