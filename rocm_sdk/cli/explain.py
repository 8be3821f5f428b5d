"""The command `rocm-sdk explain`, which prints what a problem code means, and what to do about it on this machine."""

import sys

from rocm_sdk.terminal.output import complain, tell, tell_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.problems import Problem

EXAMPLE = "rocm-sdk explain E-LIB-002"


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the code, and the form of the output."""
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, ...}')
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code such as E-LIB-002 (default: list all codes)")


def run(options: "Namespace") -> int:
    """Print the page or the list. Return status 2 for an unknown code, with the nearest known ones."""
    from rocm_sdk.problems import ALIASES, ENTRIES, in_general

    if options.code is None and options.json:
        tell_json(1, codes=[_entry_document(code) for code in ENTRIES])
        return 0
    if options.code is None:
        for code, entry in ENTRIES.items():
            tell(f"{code:<13} {in_general(entry.code).title}")
        return 0
    wanted = options.code.upper()
    if wanted not in ENTRIES and wanted not in ALIASES:
        from rocm_sdk.base.meant import did_you_mean

        meant = did_you_mean(wanted, ENTRIES)
        complain(f"there is no code {options.code}{meant and f'; {meant}'}")
        return 2
    if options.json:
        document = _entry_document(wanted) if wanted in ENTRIES else {"code": wanted, "replaced_by": ALIASES[wanted]}
        here, _ = _found_here(wanted) if wanted in ENTRIES else ([], [])
        tell_json(1, **document, here=[each.as_document() for each in here])
        return 0
    _print_page(wanted)
    if wanted in ENTRIES:
        found, subjects = _found_here(wanted)
        for each in found:
            from rocm_sdk.doctor.report.text import problem_text
            from rocm_sdk.terminal.style import width_of

            print(f"\nHere:\n{problem_text(each, width=width_of(sys.stdout))}")
        if not found and subjects:
            print(f"\nThis installation does not have it now (tested: {', '.join(subjects)}).")
    return 0


def _entry_document(code: str) -> "dict[str, object]":
    from rocm_sdk.problems import ENTRIES, example, in_general
    from rocm_sdk.problems.cause_table import rows_of

    entry = ENTRIES[code]
    found = in_general(entry.code)
    explains = [{"how": row.how, "relation": row.relation, "codes": list(row.explains)} for row in rows_of(code)]
    fixes = [{"system": fix.system or None, "fix": fix.text} for fix in entry.fixes]
    return {
        "code": code,
        "severity": entry.severity,
        "title": found.title,
        "cause": found.cause,
        "about": entry.about,
        "example": example(entry.code),
        "fixes": fixes,
        "explains": explains,
    }


def _print_page(code: str) -> None:
    from rocm_sdk.problems.code_page import page
    from rocm_sdk.terminal.style import style, width_of, wrapped

    title, paragraphs = page(code)
    tell_title = style("bold", sys.stdout)
    print(tell_title(title))
    width = width_of(sys.stdout) or 100
    for paragraph in paragraphs:
        print()
        for line in paragraph.splitlines():
            print("\n".join(wrapped(line, width, "  " if line.startswith("- ") else "")))


def _found_here(code: str) -> "tuple[list[Problem], list[str]]":
    """Return the problems of this code, and the subjects that were tested for it."""
    from rocm_sdk.problems.subject_table import SUBJECTS

    if not any(row.may_report(code) for row in SUBJECTS.values()):
        return [], []
    from rocm_sdk.doctor.causes.established_causes import problems_of
    from rocm_sdk.doctor.load_results import default_parallel
    from rocm_sdk.doctor.proofs.fixes import with_tried_changes
    from rocm_sdk.doctor.recorder import Options, Recorder
    from rocm_sdk.doctor.subject_run import run as run_subjects
    from rocm_sdk.installed import view

    recorders: list[Recorder] = []
    wanted = Options(parallel=default_parallel(), only=frozenset({code}))
    tested = view.current()
    for _ in run_subjects(tested, wanted, recorders):
        pass
    found = [each for each in problems_of(tested, recorders, wanted) if each.code == code]
    return with_tried_changes(tested, found, wanted), [recorder.subject for recorder in recorders]
