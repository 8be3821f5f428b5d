"""The command `rocm-sdk store`, which manages the store that environments share (see `rocm-sdk init --store`)."""

import os
from typing import TYPE_CHECKING

from rocm_sdk.terminal.output import complain, complain_of, remember_done, tell_json

from .arguments import waiting_time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk store prune --store /srv/rocm-store"


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the action, and the store."""
    parser.add_argument(
        "action",
        choices=["prune", "verify"],
        help="prune: remove the files that no environment uses; verify: read all files and print the damaged ones",
    )
    parser.add_argument(
        "--store", metavar="DIR", default=os.environ.get("ROCM_SDK_STORE") or None, help="default: ROCM_SDK_STORE"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=waiting_time,
        default=60.0,
        help="how long to wait for others (default: 60)",
    )
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, ...}')


def run(options: "Namespace") -> int:
    """Remove unused files, or print damaged ones.

    Return status 1 if there are any, 2 if the directory is not a store.
    """
    from rocm_sdk.base.value_text import size_text
    from rocm_sdk.devel.store import Store
    from rocm_sdk.devel.store_directory import NotAStoreError
    from rocm_sdk.terminal.progress import TerminalReporter

    if not options.store:
        complain("no store is given", "name it with --store DIR or ROCM_SDK_STORE")
        return 2
    try:
        store = Store(options.store)
    except NotAStoreError as error:
        complain_of(error)
        return 2
    say = TerminalReporter().say
    if options.action == "prune":
        pruned = store.prune(options.timeout, say)
        remember_done(f"{pruned.files:,} files are removed from {options.store}")
        if options.json:
            tell_json(1, files=pruned.files, bytes=pruned.size, archives=pruned.trees)
            return 0
        say(f"removed {pruned.files:,} files ({size_text(pruned.size)}) and the lists of {pruned.trees} archives")
        return 0
    damaged = store.verify(say)
    if options.json:
        tell_json(1, damaged=list(damaged))
        return 1 if damaged else 0
    for path in damaged:
        print(path)
    if damaged:
        complain(
            f"{len(damaged)} files or lists of the store are damaged",
            f"Remove these files, and extract the trees that contain them again: {_extract_again()}",
        )
    return 1 if damaged else 0


def _extract_again() -> str:
    """Return the command for one environment: the same as for a damaged archive."""
    from rocm_sdk.installed.distributions import sdk_distributions
    from rocm_sdk.installed.installer import own_site
    from rocm_sdk.problems import fix_of, problem

    site, name = own_site(), "rocm-sdk-devel"
    facts = next((each.facts for each in sdk_distributions(site) if each.name == name), {"requirement": name})
    return fix_of(problem("E-DEVEL-009", None, site, **facts))
