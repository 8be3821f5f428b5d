"""Puts what `rocm-sdk COMMAND --help` prints into the page about the command, where it says so in a comment."""

import io
import os
from contextlib import redirect_stdout, suppress

from sphinx.application import Sphinx

from rocm_sdk.cli.commands import COMMANDS
from rocm_sdk.cli.parser import parse

_PLACE = "<!-- the help of each command -->"


def sections() -> str:
    """Return a section for each command, in Markdown."""
    os.environ.update(COLUMNS="84", NO_COLOR="1")
    return "\n".join(f"### rocm-sdk {name}\n\n```text\n{_help(name)}```\n" for name in COMMANDS)


def _help(name: str) -> str:
    text = io.StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        parse([name, "--help"])
    return text.getvalue()


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    if _PLACE in source[0]:
        source[0] = source[0].replace(_PLACE, sections())


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.connect("source-read", _put_in)
    return {"parallel_read_safe": True}
