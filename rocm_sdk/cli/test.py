"""`rocm-sdk test`: checks the installation and shows how to fix what is wrong."""

import sys

from .output import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.selftest.installation import Installation
    from rocm_sdk.selftest.options import Options
    from rocm_sdk.selftest.recorder import Recorder

EXAMPLE = "rocm-sdk test --deep --report rocm-report.zip"


def add_arguments(parser: "ArgumentParser") -> None:
    """What to test, and how to report."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="DIR", help="test the packages in DIR instead of this environment's")
    what.add_argument("--pid", type=int, metavar="N", help="check the libraries of a running process instead")
    parser.add_argument("--deep", action="store_true", help="read every file, and compare it with RECORD")
    parser.add_argument("--init", action="store_true", help="extract the development tree for the tools that need it")
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed safely, and print what was done")
    parser.add_argument("--only", metavar="NAMES", default="", help="subjects or codes, separated by commas")
    parser.add_argument("--skip", metavar="NAMES", default="", help="subjects or codes to skip")
    parser.add_argument("--seconds", type=_seconds, default=60, help="time limit of each library and program (60)")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print what passed and what was not tried")
    parser.add_argument("--json", action="store_true", help="print the results for programs")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit's XML")
    parser.add_argument("--report", metavar="FILE", help="write a zip file to attach to a bug report")


def _seconds(text: str) -> int:
    """The value of --seconds: a day at most."""
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 86400):
        raise ArgumentTypeError(f"not a number of seconds from 1 to 86400: {text}")
    return int(text)


def run(options: "Namespace") -> int:
    """Prints the report; status 1 if there is an error, 130 after Ctrl-C."""
    from rocm_sdk.selftest import installation as installations

    wanted = _wanted(options)
    if wanted is None:
        return 2
    tested = installations.at(options.target) if options.target else installations.current()
    recorders: list[Recorder] = []
    status = 0
    try:
        if options.pid is not None:
            recorders.append(_look_at_process(tested, options.pid))
        else:
            _run_subjects(tested, wanted, recorders, options)
    except KeyboardInterrupt:
        complain("interrupted; results so far:")
        status = 130
    _print_report(tested, recorders, options)
    if not _write_files(tested, recorders, options):
        status = status or 1
    if options.fix and status == 0:
        _fix(tested, recorders)
    return status or int(any(each.failed for each in recorders))


def _wanted(options: "Namespace") -> "Options | None":
    """The options of the test; None after a message for a name that is neither a subject nor a code."""
    from rocm_sdk.problems import ENTRIES
    from rocm_sdk.selftest.loading import default_parallel
    from rocm_sdk.selftest.options import Options
    from rocm_sdk.selftest.run import SUBJECTS

    from .terminal import count_progress

    only, skip = (frozenset(filter(None, names.split(","))) for names in (options.only, options.skip))
    unknown = sorted(name for name in only | skip if name not in SUBJECTS and name not in ENTRIES)
    if unknown:
        known = ", ".join(SUBJECTS)
        print(
            f"rocm-sdk: neither a subject nor a code: {', '.join(unknown)}; the subjects are {known}", file=sys.stderr
        )
        return None
    return Options(
        deep=options.deep,
        may_extract=options.init,
        seconds=options.seconds,
        parallel=default_parallel(),
        only=only,
        skip=skip,
        progress=count_progress,
    )


def _look_at_process(tested: "Installation", pid: int) -> "Recorder":
    from rocm_sdk.selftest.recorder import Recorder
    from rocm_sdk.selftest.subjects.process import check_process

    recorder = Recorder("process", "checked", count=1)
    recorder.problems += check_process(tested, pid)
    return recorder


def _run_subjects(tested: "Installation", wanted: "Options", recorders: "list[Recorder]", options: "Namespace") -> None:
    from rocm_sdk.selftest.report import text
    from rocm_sdk.selftest.run import run as run_subjects

    if not options.json:
        print(text.heading(tested), flush=True)
    for recorder in run_subjects(tested, wanted, recorders):
        if not options.json:
            print(text.line_of(recorder), flush=True)


def _print_report(tested: "Installation", recorders: "list[Recorder]", options: "Namespace") -> None:
    from rocm_sdk.selftest.report import text
    from rocm_sdk.selftest.report.json import as_document

    if options.json:
        import json

        print(json.dumps(as_document(tested, recorders), indent=2))
    else:
        print("\n".join(text.problems(recorders, verbose=options.verbose)))


def _write_files(tested: "Installation", recorders: "list[Recorder]", options: "Namespace") -> bool:
    """Writes the requested files; False after a message if that fails."""
    from rocm_sdk.selftest.report import bundle, text
    from rocm_sdk.selftest.report.json import as_document
    from rocm_sdk.selftest.report.junit import as_junit

    path = ""
    try:
        if path := options.junit:
            with open(path, "w", encoding="utf-8") as file:
                file.write(as_junit(tested, recorders))
        if path := options.report:
            whole = "\n".join(text.whole(tested, recorders))
            bundle.write_bundle(path, whole, as_document(tested, recorders))
    except OSError as error:
        complain(f"cannot write {path}: {error.strerror}")
        return False
    return True


def _fix(tested: "Installation", recorders: "list[Recorder]") -> None:
    from rocm_sdk.selftest.repairs import repair

    for line in repair(tested, recorders) or ["there is nothing that can be fixed safely"]:
        complain(line)
