"""`rocm-sdk check`: whether files load with the SDK and run on the GPUs, without loading them."""

import sys

from rocm_sdk.terminal.output import complain, complain_of, tell

from .checking import add_against, chosen_gpus, is_directory, print_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from rocm_sdk.doctor.verdicts import Verdict

EXAMPLE = "rocm-sdk check torch-2.12.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl --gpu gfx1100"
DESCRIPTION = """\
Say whether files load with the SDK and run on the GPUs. They are read and not loaded, so you can ask before anything is
installed. Without a name: the installed SDK, with what check-gpu prints. Exit status 0 where all works, 1 where
something does not, 3 where it cannot be told, 2 for a name that stands for nothing."""

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_CANNOT_TELL = 3


def add_arguments(parser: "ArgumentParser") -> None:
    """What to check, and against what."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="FILE",
        help="a library or program, a wheel, a directory, or the name of an installed distribution",
    )
    add_against(parser, "the SDK to check against, instead of the installed one")


def run(options: "Namespace") -> int:
    """Prints a verdict for each name; the status says whether all work."""
    if not options.names and not options.sdk:
        return _check_sdk(options)
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.doctor.verdicts import Question, judge
    from rocm_sdk.errors import LibraryNotFoundError
    from rocm_sdk.installed.installation import current

    from .demangled import demangled

    if options.sdk is not None and not is_directory(options.sdk):
        return 2
    gpus, _ = chosen_gpus(options.gpu)
    question = Question(tuple(gpus), current(), options.sdk, demangled)
    try:
        with removed_at_signals():
            verdicts = [judge(name, question) for name in options.names or [options.sdk]]
    except LibraryNotFoundError as error:
        complain_of(error)
        return 2
    if options.json:
        _print_json(verdicts, gpus)
    else:
        for verdict in verdicts:
            _print(verdict)
    return _status(verdict.works for verdict in verdicts)


def _check_sdk(options: "Namespace") -> int:
    """The verdict on the SDK, and what check-gpu says of its libraries."""
    from rocm_sdk.doctor.verdicts import Question, judge
    from rocm_sdk.installed.installation import current

    from .demangled import demangled

    gpus, products = chosen_gpus(options.gpu)
    verdict = judge(None, Question(tuple(gpus), current(), None, demangled))
    if options.json:
        _print_json([verdict], gpus)
        return _status([verdict.works])
    _print(verdict, without=("CODE",))
    if gpus:
        print_code(verdict.code, gpus, products)
        if not options.gpu:
            _point_to_health()
    else:
        complain("no GPU to check", "name one: rocm-sdk check --gpu gfx1151")
    return _status([verdict.works])


def _point_to_health() -> None:
    """A line if something is wrong with the condition of this machine's GPUs; the verdict is not about that."""
    from rocm_sdk._native import gpu_health
    from rocm_sdk.base.value_text import counted

    count = sum(problem is not None for *_, problem in gpu_health())
    if count:
        tell(f"condition of the GPUs: {counted(count, 'problem')}, see: rocm-sdk gpus --health")


def _status(answers: "Iterable[bool | None]") -> int:
    known = list(answers)
    return 1 if False in known else _CANNOT_TELL if None in known else 0


def _print(verdict: "Verdict", without: "tuple[str, ...]" = ()) -> None:
    tell(f"{verdict.subject}: {verdict.line}")
    if verdict.install is not None:
        tell(f"  install: {verdict.install}")
    for each in verdict.problems:
        if each.code.split("-")[1] not in without and each.severity != "note":
            tell(f"  {each.code}: {each.title}: {each.cause}")
            if each.fix is not None:
                tell(f"  fix: {each.fix}")


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
            "has_gpu_code": verdict.has_code,
            "first_release": _major(verdict.releases[0]),
            "last_release": _major(verdict.releases[1]),
            "releases": {"first": verdict.releases[0], "last": verdict.releases[1]},
            "gpus": [{"target": on.gpu, "runs": on.runs, "remarks": on.remarks} for on in verdict.gpus],
            "problems": [each.as_document() for each in verdict.problems],
            "install": verdict.install,
        }
        for verdict in verdicts
    ]
    json.dump({"schema": _SCHEMA, "gpus": gpus, "verdicts": documents}, sys.stdout, indent=2)
    sys.stdout.write("\n")
