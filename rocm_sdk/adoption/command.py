"""The command line of `rocm-sdk adopt`: options, output, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm_sdk.base.value_text import harmless

from .distribution import AdoptionError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "python -m rocm_sdk.adoption"
DESCRIPTION = """\
AMD's distribution rocm installs files of the same names as rocm-sdk-loader. This makes rocm-sdk-loader their only
owner, and restores those that were overwritten. rocm stays installed for pip and uv, and can be upgraded and
uninstalled."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options: the work in place of adopting."""
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--check", action="store_true", help="change nothing; status 1 if there is something to do")
    instead.add_argument("--undo", action="store_true", help="give the files back to rocm")


def run(options: Namespace) -> int:
    """Adopt, undo or check, and print in one line what was done or is to be done. Return the exit status."""
    try:
        return _check() if options.check else _change(options.undo)
    except OSError as error:
        raise AdoptionError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def _check() -> int:
    from .state import state

    found = state()
    if found.problem is not None:
        raise AdoptionError(found.problem, found.fix)
    return 0


def _change(undoes: bool) -> int:
    from .adopt import adopt, undo

    done = undo() if undoes else adopt()
    direction = "given back to" if undoes else "taken over from"
    what = f"{direction} {harmless(done.theirs)}" if done.theirs else "rocm is not installed here"
    if done.released or done.restored:
        print(f"{what}: {len(done.released)} names; {len(done.restored)} files restored")
        if done.shared:
            print(
                f"rocm-sdk-loader lists {len(done.shared)} of these files too, which its installation overwrote;"
                f" uninstalling it removes them; after that: {harmless(_reinstall(done.theirs))}"
            )
    else:
        print(f"{what}: nothing to do")
    return 0


def _reinstall(requirement: str) -> str:
    """Return the command that installs rocm again ("rocm==7.10.0"), from the index that has the version."""
    from rocm_sdk._native import problem_texts

    distribution, _, version = requirement.partition("==")
    facts = {"distribution": distribution, "version": version, "requirement": requirement}
    return problem_texts("E-FILE-008", None, facts, {})[2] or ""
