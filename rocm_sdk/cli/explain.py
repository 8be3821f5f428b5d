"""`rocm-sdk explain`: what a problem code means, and what to do about it on this machine."""

import sys

from .output import complain, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk explain E-LIB-002"


def add_arguments(parser: "ArgumentParser") -> None:
    """The code."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code such as E-LIB-002 (default: list all codes)")


def run(options: "Namespace") -> int:
    """Prints the page or the list; status 1 for an unknown code, with the nearest known ones."""
    from rocm_sdk.problems import ALIASES, ENTRIES, problem

    if options.code is None:
        for code, entry in ENTRIES.items():
            tell(f"{code:<13} {problem(entry.code, None, None, _nothing_known).title}")
        return 0
    wanted = options.code.upper()
    if wanted not in ENTRIES and wanted not in ALIASES:
        from rocm_sdk._native import nearest_names

        near = ", ".join(nearest_names(wanted, tuple(ENTRIES)))
        complain(f"there is no code {options.code}{near and f'; did you mean {near}?'}")
        return 1
    _print_page(wanted)
    if wanted in ENTRIES:
        _print_here(wanted)
    return 0


def _nothing_known(_site: str, _distribution: str | None) -> dict[str, str]:
    return {}


def _print_page(code: str) -> None:
    import textwrap

    from rocm_sdk.problems.page import page

    from .terminal import style, width_of

    title, paragraphs = page(code)
    tell_title = style("bold", sys.stdout)
    print(tell_title(title))
    for paragraph in paragraphs:
        print()
        for line in paragraph.splitlines():
            indent = "  " if line.startswith("- ") else ""
            width = width_of(sys.stdout) or 100
            print("\n".join(textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False)))


def _print_here(code: str) -> None:
    """Whether this installation has the problem, as far as a test of its subjects tells, and what to do about it."""
    from rocm_sdk.selftest import installation as installations
    from rocm_sdk.selftest.grouping import grouped
    from rocm_sdk.selftest.loading import default_parallel
    from rocm_sdk.selftest.options import Options
    from rocm_sdk.selftest.recorder import Recorder
    from rocm_sdk.selftest.report.text import problem_text
    from rocm_sdk.selftest.run import run as run_subjects

    recorders: list[Recorder] = []
    wanted = Options(parallel=default_parallel(), only=frozenset({code}))
    for _ in run_subjects(installations.current(), wanted, recorders):
        pass
    found = [each for each in grouped(recorders) if each.code == code]
    for each in found:
        print(f"\nHere:\n{problem_text(each)}")
    if not found and recorders:
        subjects = ", ".join(recorder.subject for recorder in recorders)
        print(f"\nThis installation does not have it now (tested: {subjects}).")
