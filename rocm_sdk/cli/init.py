"""`rocm-sdk init`: expands the development tree, mends its links, and with `--check` verifies every file of it."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "cmake -DCMAKE_PREFIX_PATH=$(rocm-sdk init --quiet) ..."

_SHOWN = 20  # findings; a tree of which a package is gone has thousands

# What a finding of rocm_sdk.devel.check needs -> the advice.
_ADVICE = {
    "relink": "run `rocm-sdk init` as the owner of the environment",
    "runtime": 'install the packages that the links lead into: pip install "rocm[libraries]=={version}"',
    "reinstall": "pip install --force-reinstall --no-deps rocm-sdk-devel=={version} && rocm-sdk init",
}


def add_arguments(parser: "ArgumentParser") -> None:
    """How to expand, and whether to verify."""
    parser.add_argument("--quiet", action="store_true", help="say nothing while it works")
    parser.add_argument("--check", action="store_true", help="verify every file of the tree")
    parser.add_argument(
        "--store",
        metavar="DIR",
        help="keep the files in DIR once for all environments (default: ROCM_SDK_STORE)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        help="how long to wait for another process that works on the tree (default: 1800)",
    )


def run(options: "Namespace") -> int:
    """Prints the directory of the tree; status 1 where `--check` found something that could not be mended."""
    from rocm_sdk.devel.prepare import DEFAULT_TIMEOUT, prepare
    from rocm_sdk.devel.progress import Reporter

    timeout = DEFAULT_TIMEOUT if options.timeout is None else options.timeout
    root = prepare(Reporter(options.quiet), timeout=timeout, store=options.store, verify=True)
    if options.check and not _is_sound(root, options.quiet):
        return 1
    print(root)
    return 0


def _is_sound(root: str, quiet: bool) -> bool:
    from rocm_sdk.devel.check import verify_tree
    from rocm_sdk.devel.metadata import devel_distribution

    findings = verify_tree(root)
    if findings and not quiet:
        version = devel_distribution(os.path.dirname(root)).version
        for finding in findings[:_SHOWN]:
            print(f"rocm-sdk: {os.path.join(root, finding.path)} {finding.problem}", file=sys.stderr)
        if len(findings) > _SHOWN:
            print(f"rocm-sdk: ... and {len(findings) - _SHOWN} more", file=sys.stderr)
        for need in dict.fromkeys(finding.needs for finding in findings):
            print(f"  fix: {_ADVICE[need].format(version=version)}", file=sys.stderr)
    return not findings
