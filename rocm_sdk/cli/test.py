"""`rocm-sdk test`: checks the installation and shows how to fix what is wrong."""

import os
import sys

from rocm_sdk.named_tuple import NamedTuple

from .output import complain, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.problems import Problem
    from rocm_sdk.selftest.installation import Installation
    from rocm_sdk.selftest.options import Options
    from rocm_sdk.selftest.recorder import Recorder
    from rocm_sdk.selftest.report.text import Paints

EXAMPLE = "rocm-sdk test --deep --report rocm-report.zip"


def add_arguments(parser: "ArgumentParser") -> None:
    """What to test, and how to report."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="DIR", help="test the packages in DIR instead of this environment's")
    what.add_argument(
        "--sdk", metavar="PREFIX", help="test a ROCm that is to be packaged: a directory with lib, bin ..."
    )
    what.add_argument("--pid", type=int, metavar="N", help="check the libraries of a running process instead")
    what.add_argument("--merge", metavar="DIR", help="compare the reports of many nodes in DIR instead")
    parser.add_argument(
        "--destdir",
        metavar="DIR",
        help="with --sdk: the staging directory (DESTDIR, RPM_BUILD_ROOT if PREFIX is there)",
    )
    parser.add_argument("--expect", metavar="NODES", help="with --merge: node[001-128] (SLURM_JOB_NODELIST)")
    parser.add_argument("--deep", action="store_true", help="read every file, and compare it with RECORD")
    parser.add_argument(
        "--index-digests",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="as --deep, and compare RECORD with the wheels of an index (by default the configured one)",
    )
    parser.add_argument("--init", action="store_true", help="extract the development tree for the tools that need it")
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed safely, and print what was done")
    parser.add_argument("--only", metavar="NAMES", default="", help="subjects or codes, separated by commas")
    parser.add_argument("--skip", metavar="NAMES", default="", help="subjects or codes to skip")
    parser.add_argument("--seconds", type=_seconds, default=60, help="time limit of each library and program (60)")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print notes and what was not tried")
    parser.add_argument("--checks", action="store_true", help="also print each check that passed")
    parser.add_argument("--json", action="store_true", help="print the results for programs")
    parser.add_argument(
        "--output", metavar="FILE", help="with --json: write them to FILE; %%h host, %%n node, %%t task, %%p process"
    )
    parser.add_argument(
        "--node", action="store_true", help="with --json: name host and users in what it says of the node"
    )
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit's XML")
    parser.add_argument("--sarif", metavar="FILE", help="write the problems as SARIF 2.1.0, for code hosts and editors")
    parser.add_argument("--html", metavar="FILE", help="write the report as a page without private data")
    parser.add_argument("--report", metavar="FILE", help="write a zip file to attach to a bug report")


def _seconds(text: str) -> int:
    """The value of --seconds: a day at most."""
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 86400):
        raise ArgumentTypeError(f"not a number of seconds from 1 to 86400: {text}")
    return int(text)


def run(options: "Namespace") -> int:
    """Prints the report; status 1 if there is an error, 130 after Ctrl-C."""
    if wrong := _misuse(options):
        complain(wrong)
        return 2
    if options.merge is not None:
        from .test_merge import run as run_merge

        return run_merge(options)
    from rocm_sdk.selftest.grouping import grouped

    wanted = _wanted(options)
    if wanted is None:
        return 2
    if options.target and not os.path.isdir(options.target):
        complain(f"--target: {options.target} is not a directory", "name the directory that holds the packages")
        return 2
    tested = _prefix(options) if options.sdk is not None else _installation(options)
    if tested is None:
        return 2
    if options.pid is not None:
        return _run_on_process(tested, options)
    recorders: list[Recorder] = []
    interrupted = False
    try:
        _run_subjects(tested, wanted, recorders, options)
        if options.fix and _fix(tested, recorders):
            tested = _installation(options)
            recorders.clear()
            _run_subjects(tested, wanted, recorders, options)
    except KeyboardInterrupt:
        complain("interrupted; results so far:")
        interrupted = True
    if not recorders and not interrupted:
        complain("nothing was tested: --only and --skip leave no subject for it", "see: rocm-sdk test --help")
        return 2
    return _report(tested, recorders, grouped(recorders), options, interrupted=interrupted)


def _misuse(options: "Namespace") -> str:
    """What is wrong with options that belong together."""
    if options.expect is not None and options.merge is None:
        return "--expect needs --merge DIR"
    if options.sdk is not None:
        refused = [name for name in ("deep", "fix", "init") if getattr(options, name)]
        if refused:
            return f"--{refused[0]} is not for --sdk, which reads a prefix without RECORD and changes nothing"
    elif options.destdir is not None:
        return "--destdir needs --sdk PREFIX"
    if options.output is not None and not options.json:
        return "--output needs --json"
    if options.node and not options.json:
        return "--node needs --json"
    if options.index_digests is not None and (wrong := _misuse_of_index(options)):
        return wrong
    if options.output is not None:
        from rocm_sdk._native import report_name

        try:
            report_name(options.output)
        except ValueError as error:
            return f"--output: {error}"
    return ""


def _misuse_of_index(options: "Namespace") -> str:
    if options.pid is not None or options.merge is not None or options.sdk is not None:
        return "--index-digests needs an installation: none of --pid, --merge and --sdk goes with it"
    only, skip = options.only.split(","), options.skip.split(",")
    if (options.only and not any(name == "index" or "-INDEX-" in name for name in only)) or "index" in skip:
        return "--index-digests asks for the subject index, which --only or --skip leaves out: --only files,index"
    if options.index_digests:
        from rocm_sdk.web.server import Server, WebError

        try:
            Server(options.index_digests)
        except WebError as error:
            return f"--index-digests: {error}"
    return ""


class _Outcome(NamedTuple):
    """What the printed report and the files are about."""

    tested: "Installation"
    recorders: "list[Recorder]"
    problems: "list[Problem]"
    end: str  # the last sentence
    interrupted: bool


def _installation(options: "Namespace") -> "Installation":
    from rocm_sdk.selftest import installation as installations

    return installations.at(options.target, "--target") if options.target else installations.current()


def _prefix(options: "Namespace") -> "Installation | None":
    """The prefix that --sdk names; None after a message."""
    from rocm_sdk.selftest.installation import of_prefix

    if not os.path.isdir(options.sdk):
        complain(f"--sdk: {options.sdk} is not a directory", "name the prefix that has lib, bin or include")
        return None
    destdir = _destdir_of(options.sdk, options.destdir)
    if destdir is None:
        complain(f"--destdir: {options.sdk} is not below {options.destdir}", 'name both: --sdk "$D/usr" --destdir "$D"')
        return None
    return of_prefix(options.sdk, destdir)


def _destdir_of(prefix: str, named: "str | None") -> "str | None":
    """The staging directory: the named one (None if the prefix is not in it), else that of a variable; "": none."""
    place = os.path.join(os.path.abspath(prefix), "")
    candidates = [named] if named is not None else [os.environ.get("DESTDIR"), os.environ.get("RPM_BUILD_ROOT")]
    for each in filter(None, candidates):
        directory = os.path.abspath(each)
        if directory != "/" and place.startswith(os.path.join(directory, "")):
            return directory
    return None if named else ""


def _report(
    tested: "Installation",
    recorders: "list[Recorder]",
    found: "list[Problem]",
    options: "Namespace",
    *,
    interrupted: bool = False,
) -> int:
    """Prints the report and writes the files; the exit status."""
    status = 130 if interrupted else int(any(each.severity == "error" for each in found))
    end = f"{'Interrupted: not everything was tested. ' if interrupted else ''}Exit status {status}."
    outcome = _Outcome(tested, recorders, found, end, interrupted)
    try:
        _print_report(outcome, options)
    except OSError as error:
        if options.output is None:
            raise
        complain(f"cannot write {options.output}: {error.strerror}")
        status = status or 1
    if not _write_files(outcome, options):
        status = status or 1
    return status


def _run_on_process(tested: "Installation", options: "Namespace") -> int:
    from rocm_sdk.selftest.recorder import Recorder
    from rocm_sdk.selftest.subjects.process import survey_process

    recorder = Recorder("process", "checked", tested.site)
    libraries, recorder.problems = survey_process(tested, options.pid)
    sources = {
        str(each.location.path): each.location.found_via if each.location.package is None else "the SDK"
        for each in libraries
    }
    for path, source in sources.items():
        recorder.good(f"{path} ({source})")
    if not options.json:
        for path, source in sources.items():
            tell(f"{path}    from {source}")
        if not libraries and not recorder.problems:
            tell(f"process {options.pid} has no ROCm libraries")
    return _report(tested, [recorder], recorder.problems, options)


def _wanted(options: "Namespace") -> "Options | None":
    """The options of the test; None after a message for a name that is neither a subject nor a code."""
    from rocm_sdk.problems import ENTRIES
    from rocm_sdk.selftest.loading import default_parallel
    from rocm_sdk.selftest.options import Options
    from rocm_sdk.selftest.subject_table import SUBJECTS

    from .progress import count_progress

    only, skip = (frozenset(filter(None, names.split(","))) for names in (options.only, options.skip))
    if options.index_digests is None and "index" in only:
        complain("--only index needs --index-digests [ADDRESS]: nothing else asks a network")
        return None
    unknown = sorted(name for name in only | skip if name not in SUBJECTS and name not in ENTRIES)
    if unknown:
        known = ", ".join(SUBJECTS)
        print(
            f"rocm-sdk: neither a subject nor a code: {', '.join(unknown)}; the subjects are {known}", file=sys.stderr
        )
        return None
    unreported = sorted(
        name
        for name in only - SUBJECTS.keys()
        if not any(row.may_report(name, of_prefix=options.sdk is not None) for row in SUBJECTS.values())
    )
    if unreported and options.pid is None:
        complain(
            f"--only: no subject reports {', '.join(unreported)}", f"see who does: rocm-sdk explain {unreported[0]}"
        )
        return None
    return Options(
        deep=options.deep or options.index_digests is not None,
        index=options.index_digests,
        may_extract=options.init,
        seconds=options.seconds,
        parallel=default_parallel(),
        only=only,
        skip=skip,
        progress=count_progress,
    )


def _run_subjects(tested: "Installation", wanted: "Options", recorders: "list[Recorder]", options: "Namespace") -> None:
    from rocm_sdk.selftest.report import text
    from rocm_sdk.selftest.run import run as run_subjects

    if not options.json:
        print(text.heading(tested), flush=True)
    paints = _paints()
    for recorder in run_subjects(tested, wanted, recorders):
        if not options.json:
            print(text.line_of(recorder, paints), flush=True)


def _paints() -> "Paints":
    from rocm_sdk.selftest.report.text import Paints

    from .terminal import style

    return Paints(**{name: style(name, sys.stdout) for name in Paints._fields})


def _print_report(outcome: _Outcome, options: "Namespace") -> None:
    from rocm_sdk.selftest.report import text
    from rocm_sdk.selftest.report.json import as_document

    from .terminal import width_of

    tested, recorders, found, end, interrupted = outcome
    if options.json:
        import json

        from rocm_sdk.selftest.nodes.facts import node_facts

        document = as_document(tested, recorders, found, interrupted=interrupted)
        document["node"] = node_facts(tested, is_masked=not options.node)
        text_of_document = json.dumps(document, indent=2)
        if options.output is None:
            print(text_of_document)
        else:
            _write_document(options.output, text_of_document)
        return
    lines = [*text.passed(recorders)] if options.checks else []
    lines += text.not_tried(recorders) if options.verbose else ()
    if lines:
        print("\n".join(lines))
    width = width_of(sys.stdout)
    print("\n".join(text.problems(found, end, verbose=options.verbose, paints=_paints(), width=width)))


def _write_document(pattern: str, document: str) -> None:
    """Raises OSError."""
    from rocm_sdk._native import report_name
    from rocm_sdk.selftest.report.complete_file import complete_file

    with complete_file(report_name(pattern), replaces=False) as file:
        file.write(f"{document}\n".encode("utf-8", errors="backslashreplace"))


def _write_files(outcome: _Outcome, options: "Namespace") -> bool:
    """Writes the requested files; False after a message if that fails."""
    from rocm_sdk.selftest.report import bundle, text
    from rocm_sdk.selftest.report.complete_file import complete_file
    from rocm_sdk.selftest.report.json import as_document
    from rocm_sdk.selftest.report.junit import as_junit

    tested, recorders, found, end, interrupted = outcome
    path = ""
    try:
        if path := options.junit:
            with complete_file(path) as file:
                file.write(as_junit(tested, recorders, found).encode("utf-8", errors="backslashreplace"))
        if path := options.sarif:
            from rocm_sdk.selftest.report.sarif import as_sarif

            with complete_file(path) as file:
                file.write(as_sarif(tested, found, interrupted=interrupted).encode())
        if path := options.html:
            from rocm_sdk.selftest.report.html import write_html

            write_html(path, tested, recorders, found, end)
        if path := options.report:
            whole = "\n".join(text.whole(tested, recorders, found, end))
            bundle.write_bundle(path, whole, as_document(tested, recorders, found))
    except OSError as error:
        complain(f"cannot write {path}: {error.strerror}")
        return False
    return True


def _fix(tested: "Installation", recorders: "list[Recorder]") -> bool:
    """Repairs what can be repaired safely, and says what was done; whether there was anything."""
    from rocm_sdk.selftest.repairs import repair

    lines = repair(tested, recorders)
    for line in lines or ["there is nothing that can be fixed safely"]:
        complain(line)
    return bool(lines)
