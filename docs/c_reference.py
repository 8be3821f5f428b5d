"""The page of the C library, from the comments of its headers: doxygen reads them, Breathe shows them.

`<!-- every header -->` in a page becomes a section for each header. A function that the library exports and that no
page has is an error.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

_ROOT = Path(__file__).resolve().parent.parent
_HEADERS = _ROOT / "csrc/include/rocm_sdk"
_PLACE = "<!-- every header -->"
# The umbrella has no names of its own. The table of functions for other extension modules has those of the others.
_LEFT_OUT = ("rocm_sdk.h", "capsule.h")
# Comments of the headers are plain ones: the first is about the file, one behind a name is about that name. To doxygen
# a percent sign says that the next word is no link.
_FILTER = r"""exec sed -e '1s|^/\* |/** @file\n * |' \
    -e '/^\/\* ----.*---- \*\/$/d' -e '/^\/\* clang-format/d' \
    -e 's|%|\\%|g' \
    -e 's|^\( *\)/\* |\1/** |' -e 's|\([;,}]\) */\* |\1 /**< |' "$1"
"""
_OPTIONS = """
INPUT = {headers}
EXCLUDE = {left_out}
INPUT_FILTER = "{filter}"
OUTPUT_DIRECTORY = {output}
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
QUIET = YES
WARN_AS_ERROR = YES
"""


def _read_headers(app: Sphinx, config: Config) -> None:
    output = Path(app.doctreedir, "doxygen")  # one place: Breathe remembers the files
    output.mkdir(parents=True, exist_ok=True)
    script = output / "filter"
    script.write_text(f"#!/bin/sh\n{_FILTER}", encoding="ascii")
    script.chmod(0o755)
    left_out = " ".join(str(_HEADERS / name) for name in _LEFT_OUT)
    options = _OPTIONS.format(headers=_HEADERS, left_out=left_out, filter=script, output=output)
    done = subprocess.run(["doxygen", "-"], input=options, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ExtensionError(f"doxygen: {done.stderr}")
    _require_all(output / "xml")
    config.breathe_projects = {"rocm_sdk": str(output / "xml")}


def _require_all(xml: Path) -> None:
    """Each exported function is in a header, and so on the page."""
    index = ElementTree.parse(xml / "index.xml")
    known = {each.findtext("name") for each in index.iter("member") if each.get("kind") == "function"}
    exported = (_ROOT / "csrc/install/symbols").read_text(encoding="ascii").split()
    if absent := sorted(set(exported) - known):
        raise ExtensionError(f"csrc/install/symbols has functions that no header documents: {', '.join(absent)}")


def _put_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    if _PLACE in source[0]:
        names = sorted(path.name for path in _HEADERS.glob("*.h") if path.name not in _LEFT_OUT)
        sections = (f"## rocm_sdk/{name}\n\n```{{doxygenfile}} {name}\n```\n" for name in names)
        source[0] = source[0].replace(_PLACE, "\n".join(sections))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.setup_extension("breathe")
    app.connect("config-inited", _read_headers, priority=100)
    app.connect("source-read", _put_in)
    return {"parallel_read_safe": True}
