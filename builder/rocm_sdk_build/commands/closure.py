"""The command `closure`: the SDK that an application needs for its GPUs.

The proof of the command runs code of the application.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from rocm_sdk_build.base.errors import WrongUsageError
from rocm_sdk_build.closure.choosing.proof_choice import DO, LEAVE_OUT, UNSAFE

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
        "The proof runs code of what you name, without privileges; --no-proof runs none."
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
    code.add_argument("--gpu", metavar="TARGETS", help="targets and families, comma-separated, or `machine` (all)")
    code.add_argument("--exact", action="store_true", help="no generic code for a GPU that has code of its own")
    code.add_argument("--also-unofficial", action="store_true", help="also code that only patched runtimes try")
    code.add_argument(
        "--drop-code", action="store_true", help="drop the code of libraries that have only code for other GPUs"
    )
    place = command.add_argument_group("result")
    place.add_argument("--output", type=Path, metavar="PLACE", help="a new directory or file (closure)")
    place.add_argument("--form", choices=FORMS, help="form of the result (site)")
    place.add_argument(
        "--link-mode", choices=LINK_MODES, help="hardlink: unchanged files are hard links to the SDK's (copy)"
    )
    place.add_argument("--base", metavar="IMAGE", help="with oci: put the closure on top of this image")
    place.add_argument(
        "--record-pages", action="store_true", help="add a list of what a load touches in the proof, for cold starts"
    )
    place.add_argument("--keep-version", action="store_true", help="packages keep their versions")
    proof = place.add_mutually_exclusive_group()
    proof.add_argument(
        "--proof",
        nargs="?",
        const=DO,
        choices=(DO, UNSAFE),
        help="run the code of a file, directory or wheel, to try the result before it appears, as is always done for "
        "what is installed; unsafe: even if this system gives no namespaces for it (root)",
    )
    proof.add_argument("--no-proof", dest="proof", action="store_const", const=LEAVE_OUT, help="run none of its code")
    place.add_argument("--json", action="store_true", help="print the report for programs")


def run(options: argparse.Namespace) -> int:
    """Make the closure, and print what is in it."""
    if options.trace != bool(options.traced):
        raise WrongUsageError("--trace runs a command, and a command needs --trace", "--trace -- python application.py")
    _refuse_places(options)
    for option, name in _OF_CODE:
        if getattr(options, name) and options.gpu is None:
            raise WrongUsageError(f"{option} needs --gpu: without it all code stays", "name GPUs: --gpu gfx942")
    _tell(_make(_request_of(options, options.output or DEFAULT_OUTPUT)), options)
    return 0


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


def _make(request: Request) -> Made:
    from rocm_sdk.terminal.output import remember_done
    from rocm_sdk_build.closure.closure import make_closure

    made = make_closure(request)
    remember_done(f"{request.output} is written")
    return made


def _tell(made: Made, options: argparse.Namespace) -> None:
    from rocm_sdk_build.closure.report import report_json, tell_report

    if options.json:
        sys.stdout.write(report_json(made))
    else:
        tell_report(made)


def _refuse_places(options: argparse.Namespace) -> None:
    """Raise WrongUsageError if the place of the result is not clear."""
    if options.link_mode is not None and options.form not in (None, "site"):
        raise WrongUsageError("--link-mode belongs to --form site: other forms copy all", "leave out --link-mode")


# Options that decide on the content of the closure, in the order of its command; values, then flags.
_VALUES = (("--for", "words"), ("--library", "library"), ("--preload", "preload"), ("--tool", "tool"))
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
    words += ["--form", options.form, "--output", str(DEFAULT_OUTPUT)] if options.form not in (None, "site") else []
    words += ["--base", options.base] if options.base else []
    words += ["--trace", "--", *options.traced] if options.trace else []
    return shlex.join(["rocm-sdk-build", "closure", *words])
