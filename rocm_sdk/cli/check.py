"""The command `rocm-sdk check`, which says whether files load with the SDK and run on the GPUs.

The files are read and not loaded.
"""

import sys

from rocm_sdk.terminal.output import complain, tell, tell_fix, tell_wrapped

from .check_parts import add_against, chosen_gpus, is_directory, print_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from rocm_sdk.fit.verdicts import Verdict

EXAMPLE = "rocm-sdk check torch-2.12.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl --gpu gfx1100"
DESCRIPTION = """\
Say whether files load with the SDK and run on the GPUs. Files are read and not loaded, so you can ask before anything
is installed. Without a name: the installed SDK, with what check-gpu prints. Exit status 0 if everything works, 1 if
something does not, 3 if no verdict is possible, 2 for an unknown name."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_CANNOT_TELL = 3
_SHOWN = frozenset({"N-LIB-027", "N-LIB-030"})  # notes that decide whether a program works, or is too large


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: the files to check, and the SDK and GPUs to check against."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="FILE",
        help="a library or program, a wheel, a directory, or the name of an installed distribution",
    )
    add_against(parser, "the SDK to check against, instead of the installed one")


def run(options: "Namespace") -> int:
    """Print a verdict for each name. Return the status, which says whether all work."""
    if not options.names and not options.sdk:
        return _check_sdk(options)
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.fit.verdicts import Question, judge
    from rocm_sdk.installed.view import current
    from rocm_sdk.terminal.progress import with_progress

    from .demangled import demangled

    if options.sdk is not None and not is_directory(options.sdk):
        return 2
    gpus, _ = chosen_gpus(options.gpu)
    question = Question(tuple(gpus), current(), options.sdk, demangled)
    names = options.names or [options.sdk]
    with removed_at_signals():
        verdicts = [judge(name, question) for name in with_progress("checking", names, len(names))]
    if options.json:
        _print_json(verdicts, gpus)
    else:
        for verdict in verdicts:
            _print(verdict, each=options.verbose)
    return _status(verdict.works for verdict in verdicts)


def _check_sdk(options: "Namespace") -> int:
    """Print the verdict on the SDK, and the lines of check-gpu on its libraries. Return the status."""
    from rocm_sdk.fit.verdicts import Question, judge
    from rocm_sdk.installed.view import current
    from rocm_sdk.terminal.progress import waiting

    from .demangled import demangled

    gpus, products = chosen_gpus(options.gpu)
    with waiting("checking the SDK"):
        verdict = judge(None, Question(tuple(gpus), current(), None, demangled))
    if options.json:
        _print_json([verdict], gpus)
    else:
        _print_sdk(verdict, gpus, products, options)
    return _status([verdict.works])


def _print_sdk(verdict: "Verdict", gpus: list[str], products: list[str], options: "Namespace") -> None:
    _print(verdict, without=() if options.verbose else ("CODE",), each=options.verbose)
    if gpus:
        print_code(verdict.code, gpus, products)
        if not options.gpu:
            from rocm_sdk._native import gpu_health
            from rocm_sdk.base.value_text import counted

            count = sum(problem is not None for *_, problem in gpu_health())
            if count:  # the verdict says nothing about these
                tell(f"condition of the GPUs: {counted(count, 'problem')}, see: rocm-sdk gpus --health")
    else:
        from .arguments import with_gpu

        complain("no GPU to check", with_gpu(options.typed))


def _status(answers: "Iterable[bool | None]") -> int:
    known = list(answers)
    return 1 if False in known else _CANNOT_TELL if None in known else 0


def _print(verdict: "Verdict", without: "tuple[str, ...]" = (), *, each: bool = False) -> None:
    """Print a verdict. each: notes, too."""
    tell_wrapped(f"{verdict.subject}: {verdict.line}")
    called, is_run = verdict.loading.shortnames is not None, verdict.loading.is_run
    if verdict.loads and verdict.kind != "SDK" and (is_run or verdict.loading.directories) and (each or not called):
        from .run import NOT_PASSED_ON

        tell_wrapped(f"it loads in `rocm-sdk run`, too; {NOT_PASSED_ON}" if called else NOT_PASSED_ON, "  ")
    from rocm_sdk.problems import SaidFixes, fix_of

    if verdict.install is not None:
        tell_fix(fix_of(verdict.install), verdict.install.is_command, label="install")
    said_fixes = SaidFixes()
    for found in verdict.problems:
        if found.code.split("-")[1] not in without and (each or found.severity != "note" or found.code in _SHOWN):
            said = verdict.without_name(found)
            tell_wrapped(f"{found.code}: {said.title}: {said.cause}", "  ")
            if (fix := said_fixes.of(found)) is not None:
                tell_fix(*fix)


def _major(release: "str | None") -> "int | None":
    return None if release is None else int(release.partition(".")[0])


def _print_json(verdicts: "Iterable[Verdict]", gpus: list[str]) -> None:
    import json

    documents = [
        {
            "name": verdict.subject,
            "kind": verdict.kind,
            "verdict": verdict.line,
            "works": verdict.works,
            "loads": verdict.loads,
            "process": verdict.loading.as_document(),
            "has_gpu_code": verdict.has_code,
            "first_release": _major(verdict.releases[0]),
            "last_release": _major(verdict.releases[1]),
            "releases": {"first": verdict.releases[0], "last": verdict.releases[1]},
            "gpus": [{"target": on.gpu, "runs": on.runs, "remarks": on.remarks} for on in verdict.gpus],
            "problems": [each.as_document() for each in verdict.problems],
            "install": verdict.install.fix if verdict.install is not None else None,
        }
        for verdict in verdicts
    ]
    json.dump({"schema": _SCHEMA, "gpus": gpus, "verdicts": documents}, sys.stdout, indent=2)
    sys.stdout.write("\n")
