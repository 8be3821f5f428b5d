"""The command `rocm-sdk tree`: the files that loading libraries brings into a process, with sizes and times."""

import os
import sys
from typing import TYPE_CHECKING

import rocm_sdk
from rocm_sdk.cli.arguments import process_number
from rocm_sdk.errors import LibraryAccessError
from rocm_sdk.terminal.output import complain

from .plan_tree import Tree, loaded, plan_tree

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk import Bindings

# Option -> the fix where a name is a file.
_INSTEAD = {
    "load": "leave --load out: the file is read and not loaded",
    "bindings": "name the file with --for",
}
EXAMPLE = "rocm-sdk tree hipsparse --load"
DESCRIPTION = """\
Show what loading libraries brings into a process: the files, their source, size and order, and why each is opened the
way it is. A file is listed below the library that it comes with. Of a file, a wheel or an installed distribution: what
each of its files needs, what it opens by name, the libraries of the SDK below them, and what is missing."""


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the libraries, and the form of the output."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="short name of a library, as in amdhip64 or hipsparse (default: all that are installed); or a file, a"
        " wheel, a directory or an installed distribution: what it needs is shown, and it is not loaded",
    )
    parser.add_argument("--load", action="store_true", help="load them, and show how long each took")
    parser.add_argument(
        "--bindings",
        action="store_true",
        help="which file each symbol would bind to, before anything is loaded: where two libraries have one function",
    )
    parser.add_argument(
        "--for",
        nargs="+",
        default=[],
        dest="files",
        metavar="FILE",
        help="with --bindings: files to open after the libraries, an extension module say, with what they need",
    )
    parser.add_argument("--pid", type=process_number, metavar="N", help="with --bindings: what this process has bound")
    parser.add_argument(
        "--json", action="store_true", help='for programs: {"schema": 1, "steps": [], "missing": [], ...}'
    )


def run(options: "Namespace") -> int:
    """Print the tree. Return status 1 if a named file cannot be used, 2 for wrong usage."""
    if (options.files or options.pid is not None) and not options.bindings:
        complain("--for and --pid are for --bindings: add it")
        return 2
    if options.pid is not None:
        return _show_process(options)
    chosen, words = _divided(options.names)
    if words and (refused := [name for name in _INSTEAD if getattr(options, name)]):
        complain(f"--{refused[0]} is for short names, and {words[0]} is none", _INSTEAD[refused[0]])
        return 2
    shortnames = tuple(chosen) if options.names or options.files else None
    tree, bindings = Tree((), ()), None
    if chosen or not words:  # of files something can be told without an SDK, too
        tree, bindings = plan_tree(shortnames, tuple(options.files), has_bindings=options.bindings)
    if options.load:
        tree = loaded(tree, shortnames)
    all_usable = True
    if words:
        from .files_tree import with_files

        tree, all_usable = with_files(tree, words)
    if tree.branches or all_usable or options.json:
        print(_text(tree, bindings, is_json=options.json))
    for soname in bindings.missing if bindings else tree.missing:
        complain(f"{soname} is needed, and is in neither the SDK nor the system")
    return 0 if all_usable else 1


def _divided(names: list[str]) -> tuple[list[str], list[str]]:
    """Return the short names among the names, and the names of files and distributions.

    A name that is like a short name, and nothing else, counts as a short name.
    """
    from rocm_sdk.base.meant import did_you_mean
    from rocm_sdk.installed.catalog import shortnames_by_stem
    from rocm_sdk.installed.other_distributions import find

    known = {*shortnames_by_stem().values()}
    words = [
        name
        for name in names
        if name not in known
        and (not {"/", "."}.isdisjoint(name) or os.path.exists(name) or find(name) or not did_you_mean(name, known))
    ]
    return [name for name in names if name not in words], words


def _show_process(options: "Namespace") -> int:
    """Print the bindings of a process, and return the status.

    There is no tree: nothing says which library brought which in.
    """
    from .binding_table import as_json, as_text

    if options.names or options.files or options.load:
        complain("--pid takes no libraries and no files")
        return 2
    try:
        bindings = rocm_sdk.process_bindings(options.pid)
    except LibraryAccessError:
        from rocm_sdk.doctor.subjects.process import refusal_of

        found = refusal_of(options.pid)
        if found is None:
            raise
        complain(f"{found.title}: {found.cause} [{found.code}]", found.fix)
        return 1
    print(as_json(bindings) if options.json else as_text(bindings, sys.stdout))
    return 0


def _text(tree: Tree, bindings: "Bindings | None", *, is_json: bool) -> str:
    if bindings is not None:
        from . import binding_table as bound

        return bound.as_json(bindings) if is_json else bound.as_text(bindings, sys.stdout)
    from .drawn_tree import as_json, as_text

    return as_json(tree) if is_json else as_text(tree, sys.stdout)
