"""The command `rocm-sdk init`, which extracts the development tree, and updates its links.

With `--check` it verifies every file, and with `--record-pages` it writes the page list of the SDK instead.
"""

from typing import TYPE_CHECKING

from rocm_sdk.terminal.output import complain, complain_fix, remember_done, tell_json

from . import recorded_pages
from .arguments import waiting_time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.problems import Problem

EXAMPLE = "cmake -DCMAKE_PREFIX_PATH=$(rocm-sdk init --quiet) ..."

_SHOWN = 20  # differences; a tree has thousands once a package is removed


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: how to extract, and whether to verify."""
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "root": "", ...}')
    parser.add_argument("--check", action="store_true", help="verify every file of the tree")
    parser.add_argument(
        "--store",
        metavar="DIR",
        help="keep the files in DIR, once for all environments (default: ROCM_SDK_STORE)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=waiting_time,
        help="how long to wait for another process that works on the tree (default: 1800)",
    )
    parser.add_argument(
        "--record-pages",
        action="store_true",
        help=f"do nothing but {recorded_pages.HELP % 'are touched when all are loaded'}",
    )


def run(options: "Namespace") -> int:
    """Print the directory of the tree. Return status 1 if `--check` finds a difference.

    With `--record-pages` it prints the path of the list, and returns status 1 if that cannot be written.
    """
    if options.record_pages:
        from rocm_sdk.installed.view import current

        path = recorded_pages.record(current())
        if options.json:
            tell_json(1, page_list=path)
        elif path is not None:
            print(path)
        return 0 if path is not None else 1
    from rocm_sdk.base.reporter import Reporter
    from rocm_sdk.devel.make_ready import DEFAULT_TIMEOUT, Request, make_ready
    from rocm_sdk.terminal.progress import TerminalReporter

    timeout = DEFAULT_TIMEOUT if options.timeout is None else options.timeout
    reporter = Reporter() if options.quiet else TerminalReporter()
    root = make_ready(reporter, Request(timeout, options.store, verify=True))
    remember_done(f"the development tree is ready: {root}")
    differences = _differences(root, options) if options.check else None
    if options.json:
        found = None if differences is None else [each.as_document() for each in differences]
        tell_json(1, root=root, differences=found)
    elif not differences:
        print(root)
    return 1 if differences else 0


def _differences(root: str, options: "Namespace") -> "list[Problem]":
    """Return the differences from the extracted tree; print them unless the output is for programs."""
    from rocm_sdk.devel.verify import verify_tree
    from rocm_sdk.problems import fix_of

    differences = verify_tree(root)
    if differences and not options.quiet and not options.json:
        for found in differences[:_SHOWN]:
            complain(f"{found.path} {found.facts['detail']}")
        if len(differences) > _SHOWN:
            complain(f"... and {len(differences) - _SHOWN} more")
        for fix in dict.fromkeys(map(fix_of, differences)):
            complain_fix(fix)
    return differences
