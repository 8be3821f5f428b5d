"""The command `rocm-sdk test`, which checks the installation and shows how to fix its faults."""

import os
import sys

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.terminal.output import complain, complain_of_output, tell

from .selftest_options import add_arguments, misuse, wanted_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from rocm_sdk.doctor.recorder import Options, Recorder
    from rocm_sdk.doctor.report.text import Paints
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = "rocm-sdk test --deep --report rocm-report.zip"


def run(options: "Namespace") -> int:
    """Print the report. Return status 1 if there is an error, 130 after Ctrl-C."""
    if wrong := misuse(options):
        complain(wrong)
        return 2
    if options.merge is not None:
        from .merged_reports import run as run_merge

        return run_merge(options)
    from rocm_sdk.doctor.causes.established_causes import problems_of
    from rocm_sdk.doctor.causes.problem_groups import grouped

    wanted = wanted_options(options)
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
        found = _with_tried_fixes(tested, problems_of(tested, recorders, wanted), wanted, options)
    except KeyboardInterrupt:
        complain("interrupted; results so far:")
        interrupted = True
        found = grouped(recorders)  # nothing runs again
    if not recorders and not interrupted:
        complain("nothing was tested: --only and --skip leave no subject to test", "see: rocm-sdk test --help")
        return 2
    return _report(tested, recorders, found, options, interrupted=interrupted)


def _with_tried_fixes(
    tested: "Installed", found: "list[Problem]", wanted: "Options", options: "Namespace"
) -> "list[Problem]":
    """Return the problems, with what their fixes did in a copy.

    Fixes that delete or move files are tried; with --prove, all fixes are.
    """
    from rocm_sdk.doctor.proofs.fixes import Proof, with_tried_changes
    from rocm_sdk.terminal.progress import with_progress

    found = with_tried_changes(tested, found, wanted)
    if options.prove is None or tested.prefix is not None or tested.fallback is not None:
        return found
    proof = Proof(tested, wanted, has_network=options.prove == "network")
    complain(proof.plan)
    before = proof.survey()
    steps = with_progress("trying fixes", found, len(found), name=lambda each: each.code)
    found = [proof.tried(each) for each in steps]
    changed = proof.difference(before)
    complain(f"the original was changed meanwhile: {changed[0]}" if changed else "the original is as it was")
    return found


class _Outcome(NamedTuple):
    """What the printed report and the files are about."""

    tested: "Installed"
    recorders: "list[Recorder]"
    problems: "list[Problem]"
    end: str  # the last sentence
    interrupted: bool


def _installation(options: "Namespace") -> "Installed":
    from rocm_sdk.installed import view

    return view.at(options.target, "--target") if options.target else view.current()


def _prefix(options: "Namespace") -> "Installed | None":
    """Return the prefix that --sdk names; None, after a message, if there is none."""
    from rocm_sdk.installed.view import of_prefix

    if not os.path.isdir(options.sdk):
        complain(f"--sdk: {options.sdk} is not a directory", "name the prefix that has lib, bin or include")
        return None
    destdir = _destdir_of(options.sdk, options.destdir)
    if destdir is None:
        complain(f"--destdir: {options.sdk} is not below {options.destdir}", 'name both: --sdk "$D/usr" --destdir "$D"')
        return None
    return of_prefix(options.sdk, destdir)


def _destdir_of(prefix: str, named: "str | None") -> "str | None":
    """Return the staging directory: the named one (None if the prefix is not in it), else a variable's; "": none."""
    place = os.path.join(os.path.abspath(prefix), "")
    candidates = [named] if named is not None else [os.environ.get("DESTDIR"), os.environ.get("RPM_BUILD_ROOT")]
    for each in filter(None, candidates):
        directory = os.path.abspath(each)
        if directory != "/" and place.startswith(os.path.join(directory, "")):
            return directory
    return None if named else ""


def _report(
    tested: "Installed",
    recorders: "list[Recorder]",
    found: "list[Problem]",
    options: "Namespace",
    *,
    interrupted: bool = False,
) -> int:
    """Print the report and write the files. Return the exit status."""
    status = 130 if interrupted else int(any(each.severity == "error" for each in found))
    end = f"{'Interrupted: not everything was tested. ' if interrupted else ''}Exit status {status}."
    is_good = not any(each.severity == "error" for each in found)
    if is_good and not options.deep and any(each.subject == "files" for each in recorders):
        end = f"The contents of files were not compared (--deep). {end}"
    outcome = _Outcome(tested, recorders, found, end, interrupted)
    try:
        _print_report(outcome, options)
    except OSError as error:
        if options.output is None:
            raise
        complain_of_output(options.output, error)
        status = status or 1
    if not _write_files(outcome, options):
        status = status or 1
    return status


def _run_on_process(tested: "Installed", options: "Namespace") -> int:
    from rocm_sdk.doctor.recorder import Recorder
    from rocm_sdk.doctor.subjects.process import survey_process

    recorder = Recorder("process", "checked", tested.site, known=tested.known)
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


def _run_subjects(tested: "Installed", wanted: "Options", recorders: "list[Recorder]", options: "Namespace") -> None:
    from rocm_sdk.doctor.report import text
    from rocm_sdk.doctor.subject_run import run as run_subjects
    from rocm_sdk.terminal.style import width_of, wrapped

    is_shown = not options.json and not options.quiet
    if is_shown:
        print("\n".join(wrapped(text.heading(tested), width_of(sys.stdout), " " * 4)), flush=True)
    paints = _paints()
    subjects = run_subjects(tested, wanted, recorders)
    while (recorder := _next_tested(subjects)) is not None:
        if is_shown:
            print(text.line_of(recorder, paints), flush=True)


def _next_tested(subjects: "Iterator[Recorder]") -> "Recorder | None":
    """Return the findings of the next subject; None after the last."""
    from rocm_sdk.terminal.progress import waiting

    with waiting("testing"):
        return next(subjects, None)


def _paints() -> "Paints":
    from rocm_sdk.doctor.report.text import Paints
    from rocm_sdk.terminal.style import style

    return Paints(**{name: style(name, sys.stdout) for name in Paints._fields})


def _print_report(outcome: _Outcome, options: "Namespace") -> None:
    from rocm_sdk.doctor.report import text
    from rocm_sdk.doctor.report.json import as_document
    from rocm_sdk.terminal.style import width_of, wrapped

    tested, recorders, found, end, interrupted = outcome
    width = width_of(sys.stdout)
    if options.json:
        import json

        from rocm_sdk.doctor.nodes.facts import node_facts

        document = as_document(tested, recorders, found, interrupted=interrupted)
        document["node"] = node_facts(tested, is_masked=not options.node)
        text_of_document = json.dumps(document, indent=2)
        if options.output is None:
            print(text_of_document)
        else:
            from rocm_sdk._native import report_name
            from rocm_sdk.doctor.report.complete_file import complete_file

            with complete_file(report_name(options.output), replaces=False) as file:
                file.write(f"{text_of_document}\n".encode("utf-8", errors="backslashreplace"))
        return
    lines = [*text.passed(recorders)] if options.checks else []
    lines += text.not_tried(recorders) if options.verbose else ()
    if lines:
        print("\n".join(part for line in lines for part in wrapped(line, width, " " * 8)))
    if not options.quiet:
        print("\n".join(text.problems(found, end, verbose=options.verbose, paints=_paints(), width=width)))
    elif said := [*text.texts(found, verbose=options.verbose, paints=_paints(), width=width)]:
        print("\n\n".join(said))


def _write_files(outcome: _Outcome, options: "Namespace") -> bool:
    """Write the requested files. Return False, after a message, if that fails."""
    from rocm_sdk.doctor.report import bundle, text
    from rocm_sdk.doctor.report.complete_file import complete_file
    from rocm_sdk.doctor.report.json import as_document
    from rocm_sdk.doctor.report.junit import as_junit

    tested, recorders, found, end, interrupted = outcome
    path = ""
    try:
        if path := options.junit:
            junit = as_junit(tested, recorders, found, interrupted=interrupted)
            with complete_file(path) as file:
                file.write(junit.encode("utf-8", errors="backslashreplace"))
        if path := options.report:
            whole = "\n".join(text.whole(tested, recorders, found, end))
            bundle.write_bundle(path, whole, as_document(tested, recorders, found, interrupted=interrupted))
    except OSError as error:
        complain_of_output(path, error)
        return False
    return True


def _fix(tested: "Installed", recorders: "list[Recorder]") -> bool:
    """Fix what can be fixed safely, and say what was done. Return whether there was anything to fix."""
    from rocm_sdk.doctor.repairs import repair

    lines = repair(tested, recorders)
    for line in lines or ["there is nothing that can be fixed safely"]:
        complain(line)
    return bool(lines)
