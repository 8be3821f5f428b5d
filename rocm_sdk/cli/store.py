"""`rocm-sdk store`: looks after the store that environments share (see `rocm-sdk init --store`)."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk store prune --store /srv/rocm-store"


def add_arguments(parser: "ArgumentParser") -> None:
    """What to do, and with which store."""
    parser.add_argument(
        "action",
        choices=["prune", "verify"],
        help="prune: remove the files that no environment uses; verify: read all files and name the damaged ones",
    )
    parser.add_argument(
        "--store", metavar="DIR", default=os.environ.get("ROCM_SDK_STORE"), help="default: ROCM_SDK_STORE"
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=60.0, help="how long to wait for its users (default: 60)"
    )


def run(options: "Namespace") -> int:
    """Says on stderr what was removed, or prints damaged files; status 1 where there are any."""
    from rocm_sdk.devel.progress import Reporter
    from rocm_sdk.devel.store import Store

    if not options.store or not os.path.isdir(os.path.expanduser(options.store)):
        named = f"{options.store} is no directory" if options.store else "no store is named"
        print(f"rocm-sdk: {named}; use --store DIR or set ROCM_SDK_STORE", file=sys.stderr)
        return 1
    store = Store(options.store)
    if options.action == "prune":
        pruned = store.prune(options.timeout, Reporter().say)
        print(
            f"rocm-sdk: removed {pruned.files:,} files ({pruned.size / 1e9:.1f} GB) and what was known of"
            f" {pruned.trees} archives",
            file=sys.stderr,
        )
        return 0
    damaged = store.verify()
    for path in damaged:
        print(path)
    if damaged:
        print(
            "  fix: remove these files, and expand the trees that have them again:"
            " pip install --force-reinstall --no-deps rocm-sdk-devel && rocm-sdk init",
            file=sys.stderr,
        )
    return 1 if damaged else 0
