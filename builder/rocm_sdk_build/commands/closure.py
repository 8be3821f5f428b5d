"""The command `closure`: the SDK that an application needs for its GPUs.

The proof of the command runs code of the application.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from rocm_sdk_build.closure.choosing.proof_choice import DO, LEAVE_OUT, UNSAFE
from rocm_sdk_build.errors import AbsentInputError, WrongUsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk_build.closure.closure import Made, Request

DEFAULT_OUTPUT = Path("closure")  # the default place, with which the command of a note works
LINK_MODES = ("copy", "hardlink")
FORMS = ("site", "wheels", "squashfs", "erofs", "oci")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments about the application, its GPU code and the result."""
    command.description = (
        "Make an SDK of what an application needs for its GPUs. "
        "The proof runs code of what you name, with no rights; --no-proof runs none."
    )
    roots = command.add_argument_group("applications")
    word = "FILE|DIRECTORY|WHEEL|DISTRIBUTION"
    roots.add_argument(
        "--for", dest="words", action="append", default=[], metavar=word, help="an application (several times)"
    )
    for option, what in (
        ("--library", "a library that the application opens itself (several times)"),
        ("--preload", "a library that it preloads (several times)"),
        ("--tool", "a program of the SDK, as hipcc (several times)"),
    ):
        roots.add_argument(option, action="append", default=[], metavar="NAME", help=what)
    roots.add_argument(
        "--trace", action="store_true", help="run the application, and keep what else it uses: -- COMMAND"
    )
    roots.add_argument("traced", nargs="*", metavar="COMMAND", help=argparse.SUPPRESS)
    code = command.add_argument_group("GPU code")
    code.add_argument("--gpu", metavar="TARGETS", help="targets and families with commas between, or `machine` (all)")
    code.add_argument("--exact", action="store_true", help="no generic code for a GPU that has code of its own")
    code.add_argument("--also-unofficial", action="store_true", help="also code that only patched runtimes try")
    code.add_argument(
        "--drop-code", action="store_true", help="libraries without code for the GPUs lose that for other GPUs"
    )
    place = command.add_argument_group("result")
    place.add_argument("--output", type=Path, metavar="PLACE", help="a new directory or file (closure)")
    place.add_argument("--in-place", action="store_true", help="make the SDK of this environment smaller")
    place.add_argument(
        "--also", action="append", default=[], metavar="DISTRIBUTION", help="with --in-place: as torch (several times)"
    )
    place.add_argument("--form", choices=FORMS, help="form of the result (site)")
    place.add_argument(
        "--link-mode", choices=LINK_MODES, help="hardlink: unchanged files are other names of the SDK's (copy)"
    )
    place.add_argument("--base", metavar="IMAGE", help="with oci: an image of the closure on this one")
    place.add_argument(
        "--record-pages", action="store_true", help="add what a load touches, as the proof sees it, for cold starts"
    )
    place.add_argument("--keep-version", action="store_true", help="packages keep their versions")
    proof = place.add_mutually_exclusive_group()
    proof.add_argument(
        "--proof",
        nargs="?",
        const=DO,
        choices=(DO, UNSAFE),
        help="run the code of a file, directory or wheel, to try the result before it appears, as is done with what is "
        "installed; unsafe: also where this system gives no namespaces for it (root)",
    )
    proof.add_argument("--no-proof", dest="proof", action="store_const", const=LEAVE_OUT, help="run no code of it")
    place.add_argument("--json", action="store_true", help="print the report for programs")
    place.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page with the sizes as bars")


def run(options: argparse.Namespace) -> int:
    """Make the closure, and tell its content."""
    if options.trace != bool(options.traced):
        raise WrongUsageError("--trace runs a command, and a command needs --trace", "--trace -- python application.py")
    _refuse_places(options)
    for option, name in _OF_CODE:
        if getattr(options, name) and options.gpu is None:
            raise WrongUsageError(f"{option} needs --gpu: without it all code stays", "name GPUs: --gpu gfx942")
    output = options.output or DEFAULT_OUTPUT
    if options.html is not None:
        _refuse_page(options.html, None if options.in_place else output)
    made = _make(_request_of(options, output), options)
    if made is None:
        print("completed what was interrupted")
        return 0
    return _tell(made, options)


def _request_of(options: argparse.Namespace, output: Path) -> Request:
    from rocm_sdk_build.closure.closure import Request
    from rocm_sdk_build.code.choice import chosen_gpus

    return Request(
        words=tuple(options.words),
        libraries=tuple(options.library),
        preloads=tuple(options.preload),
        tools=tuple(options.tool),
        traced=tuple(options.traced),
        gpus=chosen_gpus(options.gpu, "--gpu") if options.gpu is not None else (),
        unofficial=options.also_unofficial,
        exact=options.exact,
        drops_code=options.drop_code,
        form=options.form or "site",
        base=options.base,
        keeps_version=options.keep_version,
        may_link=options.link_mode == "hardlink",
        proof=options.proof,
        records_pages=options.record_pages,
        output=output,
        command=_command_text(options),
    )


def _make(request: Request, options: argparse.Namespace) -> Made | None:
    """Make the closure, or make the SDK of this environment smaller.

    Return None if an interrupted change of this environment was completed, and nothing else was to do.
    """
    from rocm_sdk.terminal.output import remember_done

    if options.in_place:
        from rocm_sdk_build.closure.in_place.pruning import prune_environment

        made = prune_environment(request, tuple(options.also))
        remember_done("the SDK of this environment is smaller")
        return made
    from rocm_sdk_build.closure.closure import make_closure

    made = make_closure(request)
    remember_done(f"{request.output} is written")
    return made


def _tell(made: Made, options: argparse.Namespace) -> int:
    """Write the page and the report; return 1 if the page cannot be written, or 0."""
    from rocm_sdk_build.closure.telling.report import report_json, tell_report

    status = 0 if options.html is None or _is_written(made, options.html) else 1
    if options.json:
        sys.stdout.write(report_json(made))
    else:
        tell_report(made)
    return status


def _refuse_page(page: Path, output: Path | None) -> None:
    """Refuse a page that could not be written after the closure; `output` is the closure that the run makes.

    Raise WrongUsageError for the place of the closure, AbsentInputError for a directory that does not exist, and
    OSError for a place that takes no file.
    """
    from rocm_sdk_build.files.new_file import refuse_output

    refuse_output(str(page))
    place = Path(os.path.realpath(page))
    made = Path(os.path.realpath(output)) if output is not None else None
    if place == made:
        raise WrongUsageError(f"--html {page}: is the place of the closure, too", "name another file")
    if not place.parent.is_dir() and (made is None or place.parent not in (made, *made.parents)):
        raise AbsentInputError(
            f"--html {page}: there is no directory {page.parent}", shlex.join(["mkdir", "-p", "--", str(page.parent)])
        )


def _is_written(made: Made, page: Path) -> bool:
    """Write the page; return False after a message if the page cannot be written.

    The closure is there even then, and the report says so.
    """
    from rocm_sdk.terminal.output import complain_of_output
    from rocm_sdk_build.closure.telling.closure_page import write_page

    try:
        write_page(made, page)
    except OSError as error:
        complain_of_output(page, error)
        return False
    return True


def _refuse_places(options: argparse.Namespace) -> None:
    """Raise WrongUsageError if the place of the result is not clear."""
    if options.in_place and any(each is not None for each in (options.output, options.form, options.base)):
        raise WrongUsageError("--in-place writes nothing but this environment", "leave out --output, --form, --base")
    if options.in_place and options.record_pages:
        raise WrongUsageError(
            "--record-pages belongs to a new closure: an environment has its own list",
            "leave it out, and record afterwards: rocm-sdk init --record-pages",
        )
    if options.link_mode is not None and (options.in_place or options.form not in (None, "site")):
        raise WrongUsageError("--link-mode belongs to --form site: other forms copy all", "leave out --link-mode")
    if options.also and not options.in_place:
        raise WrongUsageError("--also belongs to --in-place", "rocm-sdk-build code --keep rewrites other directories")


# Options that decide on the content of the closure, in the order of its command; values, then flags.
_VALUES = (
    *(("--for", "words"), ("--library", "library"), ("--preload", "preload"), ("--tool", "tool")),
    ("--also", "also"),
)
_OF_CODE = (("--exact", "exact"), ("--also-unofficial", "also_unofficial"), ("--drop-code", "drop_code"))
_FLAGS = (*_OF_CODE, ("--record-pages", "record_pages"))


def _command_text(options: argparse.Namespace) -> str:
    """Return the command that makes the same closure again.

    The command always has the same place, so that the closure has the same bytes elsewhere.
    """
    words = [word for option, name in _VALUES for value in getattr(options, name) for word in (option, value)]
    words += ["--gpu", options.gpu] if options.gpu is not None else []
    words += [option for option, name in _FLAGS if getattr(options, name)]
    words += ["--keep-version"] if options.keep_version else []
    words += ["--in-place"] if options.in_place else []
    words += ["--form", options.form, "--output", str(DEFAULT_OUTPUT)] if options.form not in (None, "site") else []
    words += ["--base", options.base] if options.base else []
    words += ["--trace", "--", *options.traced] if options.trace else []
    return shlex.join(["rocm-sdk-build", "closure", *words])
