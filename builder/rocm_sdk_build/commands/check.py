"""The command `rocm-sdk-build check`: its arguments and its answer, for people and as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk_build.checking.check import Checked

_SCHEMA = 1


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the directory and the form of the answer."""
    command.description = (
        "Check that the packages of an SDK in a directory are complete, agree with each other, match their RECORDs, "
        "and work when installed together, with each device package in turn. Run it before `index`. "
        "Status 0: nothing is wrong; 1: problems; 2: wrong usage."
    )
    command.add_argument("directory", type=Path, metavar="DIR", help="where the packages are, of all machines")
    scratch = "where the packages are installed for the test, and removed again (DIR)"
    command.add_argument("--scratch", type=Path, metavar="DIR", help=scratch)
    command.add_argument("--json", action="store_true", help="print the answer for programs")


def run(options: argparse.Namespace) -> int:
    """Print the answer; return 1 if there is a problem, or 0."""
    from rocm_sdk_build.checking.check import check

    directory: Path = options.directory
    found = check(directory, options.scratch or directory)
    if options.json:
        _print_document(directory, found)
    else:
        _print_text(directory, found)
    return 1 if found.problems else 0


def _print_text(directory: Path, found: Checked) -> None:
    from rocm_sdk.base.value_text import counted
    from rocm_sdk.terminal.output import tell
    from rocm_sdk_build.output.extras import LOADER_FIX

    for problem in found.problems:
        for line in f"{problem.file}: {problem.what}".split("\n"):
            tell(line)
        tell(f"  fix: {problem.fix}")
    for each in found.openings:
        tell(f"{each.wheel}: {each.opener} opens {each.opened.name}, and no package has it: {each.opened.text}")
    for left in found.left_out:
        tell(str(left))
    for names in found.tested:
        tell(f"installed and tested together: {', '.join(names)}")
    if not found.tested and found.packages:
        tell("nothing was installed: the problems above come first")
    versions = ", ".join(found.versions) or "no version"
    lacks = [] if found.has_loader else [f"rocm-sdk-loader: {LOADER_FIX}"]
    if found.left_out:
        lacks.insert(0, f"{counted(len(found.left_out), 'artifact')} of its build, listed above")
    without = f", except {', and '.join(lacks)}" if lacks else ""
    complete = f"compared by {', '.join(found.compared)}: complete{without}"
    verdict = f"{counted(len(found.problems), 'problem')}" if found.problems else complete
    tell(f"{directory}: rocm {versions}, {counted(len(found.packages), 'package')}: {verdict}")


def _print_document(directory: Path, found: Checked) -> None:
    import json

    from rocm_sdk_build.packages.parts import short_name

    document = {
        "schema": _SCHEMA,
        "directory": str(directory),
        "versions": found.versions,
        "packages": [
            {
                "name": short_name(each.project),
                "project": each.project,
                "version": each.version,
                "file": str(each.path),
                "bytes": each.path.stat().st_size,
            }
            for each in found.packages
        ],
        "tested": [list(names) for names in found.tested],
        "opened": [
            {"file": str(each.wheel), "opener": each.opener, "name": each.opened.name, "answer": each.opened.answer}
            for each in found.openings
        ],
        "compared": list(found.compared),
        "left_out": [each._asdict() for each in found.left_out],
        "problems": [{"file": str(each.file), "what": each.what, "fix": each.fix} for each in found.problems],
    }
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
