"""`rocm-sdk tree`: the files that loading libraries brings into a process, with sizes and times."""

import sys
from typing import TYPE_CHECKING

from rocm_sdk.cli.output import complain

from .plan_tree import Tree, load_tree, plan_tree

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk tree hipsparse --load"
DESCRIPTION = """\
Show what loading libraries brings into a process: the files, their source, size and order, and why each is opened the
way it is. A file is listed below the library that it comes with."""


def add_arguments(parser: "ArgumentParser") -> None:
    """The libraries, and the form of the output."""
    parser.add_argument(
        "shortnames",
        nargs="*",
        metavar="SHORTNAME",
        help="name of a library, as in amdhip64 or hipsparse (default: all that are installed)",
    )
    parser.add_argument("--load", action="store_true", help="load them, and show how long each took")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_const",
        dest="form",
        const="json",
        help='for programs: {"schema": 1, "steps": [], "missing": [], ...}',
    )
    form.add_argument("--dot", action="store_const", dest="form", const="dot", help="a graph for Graphviz")
    form.add_argument("--svg", action="store_const", dest="form", const="svg", help="a picture, as one file")
    form.add_argument(
        "--html",
        action="store_const",
        dest="form",
        const="html",
        help="the same as a page that tells more under the pointer",
    )


def run(options: "Namespace") -> int:
    """Prints the tree."""
    from rocm_sdk.installed.libraries import installed_libraries

    shortnames = options.shortnames or installed_libraries()
    tree = (load_tree if options.load else plan_tree)(*shortnames)
    print(_text(tree, options.form))
    for soname in tree.missing:
        complain(f"{soname} is needed, and is in neither the SDK nor the system")
    return 0


def _text(tree: Tree, form: str | None) -> str:
    if form == "json":
        from .as_json import as_json

        return as_json(tree)
    if form == "dot":
        from .as_dot import as_dot

        return as_dot(tree)
    if form == "svg":
        from .as_svg import as_svg

        return as_svg(tree)
    if form == "html":
        from .as_svg import as_html

        return as_html(tree)
    from .as_text import as_text

    return as_text(tree, sys.stdout)
