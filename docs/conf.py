"""Sphinx configuration: Markdown pages, no page left out of the contents, every reference resolved."""

import re
import sys
from pathlib import Path

project = "rocm_sdk"
author = "the rocm_sdk authors"
copyright = f"2026, {author}"  # noqa: A001 - the name that Sphinx reads

_header = Path(__file__).resolve().parent.parent / "csrc/include/rocm_sdk/version.h"
_version = re.search(r'^#define RSDK_VERSION "(.+)"$', _header.read_text(encoding="ascii"), re.MULTILINE)
assert _version is not None, _header
release = version = _version.group(1)

sys.path.insert(0, str(Path(__file__).resolve().parent))
extensions = [
    *("c_reference", "code_pages", "command_help", "myst_parser", "python_reference", "real_output", "target_table"),
]
breathe_default_project = "rocm_sdk"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
autodoc_typehints = "none"  # docstrings have the types
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
smartquotes = False  # a command of a page is pasted into a shell
nitpicky = True
nitpick_ignore_regex = [("c:identifier", r"(size|ssize|uint(8|16|32|64)|pid|dev|ino)_t")]  # of the C library
html_theme = "furo"
html_title = f"rocm_sdk {release}"
html_static_path = ["_static"]
html_css_files = ["wrap.css"]
html_js_files = ["labels.js"]
html_theme_options = {"top_of_page_buttons": []}
