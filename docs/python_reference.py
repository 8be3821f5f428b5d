"""The pages of the public names of Python, from their signatures and docstrings.

`<!-- every public name -->` in a page becomes an entry for each name of `rocm_sdk.__all__`. A name without a docstring
is an error.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import rocm_sdk

_PLACE = "<!-- every public name -->"
_ARGUMENT = re.compile(r"([a-z_]+(?:, [a-z_]+)*): (.*)")


def _kind(value: object) -> str:
    if isinstance(value, type) and issubclass(value, Warning):
        return "Warnings"
    if isinstance(value, type) and issubclass(value, BaseException):
        return "Exceptions"
    return "Types of results" if isinstance(value, type) else "Functions"


def _entry(name: str, value: object) -> str:
    directive = "autoclass" if isinstance(value, type) else "autofunction"
    fields = isinstance(value, type) and hasattr(value, "n_fields")  # a structured sequence
    return f".. {directive}:: {name}\n" + ("   :members:\n   :undoc-members:\n" if fields else "")


def _entries() -> str:
    sections: dict[str, list[str]] = {"Functions": [], "Types of results": [], "Exceptions": [], "Warnings": []}
    for name in sorted(rocm_sdk.__all__):
        value = getattr(rocm_sdk, name)
        if isinstance(value, str):  # `loader_version`, a plain value
            continue
        if not value.__doc__:
            raise ExtensionError(f"rocm_sdk.{name} has no docstring")
        sections[_kind(value)].append(_entry(name, value))
    return "\n".join(
        f"## {title}\n\n```{{eval-rst}}\n.. currentmodule:: rocm_sdk\n\n{''.join(entries)}```\n"
        for title, entries in sections.items()
    )


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    if _PLACE in source[0]:
        source[0] = source[0].replace(_PLACE, _entries())


def _as_fields(_app: Sphinx, _what: str, _name: str, _value: object, _options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text; `name: what it is` at the beginning of a line becomes an item."""
    found: list[str] = []
    in_item = False
    for line in lines:
        match = _ARGUMENT.match(line)
        if match:
            found += ["", f"* ``{match[1]}``: {_escaped(match[2])}"]
        elif in_item and line.startswith("    "):
            found.append(f"  {_escaped(line.strip())}")
        else:
            found += ["", _escaped(line.strip())] if in_item else [_escaped(line.strip())]
        in_item = bool(match) or (in_item and line.startswith("    "))
    lines[:] = [*found, ""]


def _escaped(text: str) -> str:
    """Return the text for reStructuredText, in which our single backquotes mark code, too."""
    parts = re.split(r"`([^`]+)`", text)
    plain = (re.sub(r"([*|_`\\])", r"\\\1", part) for part in parts[::2])
    code = (f"``{part}``" for part in parts[1::2])
    return "".join(part for pair in zip_longest(plain, code, fillvalue="") for part in pair)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("source-read", _put_in)
    app.connect("autodoc-process-docstring", _as_fields)
    return {"parallel_read_safe": True}
