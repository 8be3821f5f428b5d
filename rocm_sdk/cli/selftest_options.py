"""The options of `rocm-sdk test`: what they are, which go together, and what they do."""

from rocm_sdk.terminal.output import complain

from .arguments import process_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.doctor.recorder import Options


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: what to test, and how to report."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="DIR", help="test the packages in DIR instead of this environment's")
    what.add_argument(
        "--sdk", metavar="PREFIX", help="test a ROCm that is to be packaged: a directory with lib, bin ..."
    )
    what.add_argument(
        "--pid", type=process_number, metavar="N", help="check the libraries of a running process instead"
    )
    what.add_argument("--merge", metavar="DIR", help="compare the reports of many nodes in DIR instead")
    parser.add_argument(
        "--destdir",
        metavar="DIR",
        help="with --sdk: the staging directory (DESTDIR, RPM_BUILD_ROOT if PREFIX is there)",
    )
    parser.add_argument("--expect", metavar="NODES", help="with --merge: node[001-128] (SLURM_JOB_NODELIST)")
    parser.add_argument("--deep", action="store_true", help="read every file, and compare it with RECORD")
    parser.add_argument("--init", action="store_true", help="extract the development tree for the tools that need it")
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed safely, and print what was done")
    parser.add_argument(
        "--prove",
        nargs="?",
        const="local",
        choices=("local", "network"),
        help="try each fix in a copy, with local wheels and the installer's cache, or with the network",
    )
    parser.add_argument("--only", metavar="NAMES", help="subjects or codes, separated by commas")
    parser.add_argument("--skip", metavar="NAMES", default="", help="subjects or codes to skip")
    parser.add_argument("--seconds", type=_seconds, default=60, help="time limit of each library and program (60)")
    parser.add_argument("--checks", action="store_true", help="also print each check that passed")
    parser.add_argument("--json", action="store_true", help="print the results for programs")
    parser.add_argument(
        "--output", metavar="FILE", help="with --json: write them to FILE; %%h host, %%n node, %%t task, %%p process"
    )
    parser.add_argument(
        "--node", action="store_true", help="with --json: do not mask the names of host and users in `node`"
    )
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit's XML")
    parser.add_argument("--report", metavar="FILE", help="write a zip file to attach to a bug report")


def _seconds(text: str) -> int:
    """Return the value of --seconds: a day at most. Raise ArgumentTypeError for another text."""
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 86400):
        raise ArgumentTypeError(f"not a number of seconds from 1 to 86400: {text}")
    return int(text)


# What is tested instead of an installation -> options that do nothing for it, and why.
_NOT_FOR = {
    "sdk": (("deep", "fix", "init"), "which reads a prefix without RECORD and changes nothing"),
    "pid": (("deep", "fix", "init", "only", "skip"), "which looks at what a process has loaded and changes nothing"),
    "merge": (("deep", "fix", "init", "only", "skip"), "which reads the reports of tests"),
}


def misuse(options: "Namespace") -> str:
    """Return which options do not go together, or which lacks another; "" if all is well."""
    if options.prove and (refused := [name for name in ("fix", "sdk", "pid", "merge") if getattr(options, name)]):
        return f"--prove tries the fixes of an installation, and does not go with --{refused[0]}"
    for subject, (names, what) in _NOT_FOR.items():
        if getattr(options, subject) is not None and (refused := [name for name in names if getattr(options, name)]):
            return f"--{refused[0]} is not for --{subject}, {what}"
    if options.expect is not None and options.merge is None:
        return "--expect needs --merge DIR"
    if options.destdir is not None and options.sdk is None:
        return "--destdir needs --sdk PREFIX"
    if options.output is not None and not options.json:
        return "--output needs --json"
    if options.node and not options.json:
        return "--node needs --json"
    if options.output is not None:
        from rocm_sdk._native import report_name

        try:
            report_name(options.output)
        except ValueError as error:
            return f"--output: {error}"
    return ""


def wanted_options(options: "Namespace") -> "Options | None":
    """Return the options of the test; None, after a message, for a name that is neither a subject nor a code."""
    from rocm_sdk.base.meant import did_you_mean
    from rocm_sdk.doctor.load_results import default_parallel
    from rocm_sdk.doctor.recorder import Options
    from rocm_sdk.problems import ENTRIES
    from rocm_sdk.problems.subject_table import SUBJECTS
    from rocm_sdk.terminal.progress import count_progress

    only, skip = (frozenset(filter(None, names.split(","))) for names in (options.only or "", options.skip))
    if options.only is not None and not only:
        complain("--only names no subject", f"name some of {', '.join(SUBJECTS)}, or leave it out")
        return None
    unknown = sorted(name for name in only | skip if name not in SUBJECTS and name not in ENTRIES)
    if unknown:
        meant = did_you_mean(unknown[0], (*SUBJECTS, *ENTRIES))
        what = f"{meant} neither a subject nor a code: {', '.join(unknown)}".lstrip()
        complain(what, f"name some of {', '.join(SUBJECTS)}")
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
        deep=options.deep,
        may_extract=options.init,
        seconds=options.seconds,
        parallel=default_parallel(),
        only=only,
        skip=skip,
        progress=count_progress,
    )
