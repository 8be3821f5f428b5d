"""The command `rocm-sdk`. One file per subcommand; a new one joins by a row in `COMMANDS`.

stdout carries the answer alone, for `$(...)`; everything else goes to stderr. Exit status 0, 1 when there is no answer,
2 for wrong usage. A call without options goes straight to its command: argparse takes longer to import than the answer
takes to find.
"""

import sys

# Subcommand -> what it does, in a line. Its module is rocm_sdk.cli.NAME, with add_arguments(parser), run(options) and
# EXAMPLE.
COMMANDS = {
    "adopt": "own the files that AMD's distribution rocm claims too",
    "explain": "explain a code that `rocm-sdk test` or an error names",
    "gpus": "print the GPUs of this machine, and why one cannot be used",
    "path": "print the file of a library",
    "targets": "print the gfx targets that the SDK was built for, or flags to build for targets",
    "version": "print the version of the installed SDK",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the command with `arguments` (default: those of the process); returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    from rocm_sdk.errors import RocmSdkError

    try:
        if words == ["version"]:
            from . import version

            return version.run(None)
        if words == ["targets"]:
            from . import targets

            return targets.run(None)
        if words == ["gpus", "--arch"]:
            from . import gpus

            return gpus.print_targets()
        from .parser import parse

        run, options = parse(words)
        return run(options)
    except RocmSdkError as error:
        print(f"rocm-sdk: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has gone (`| head`). Python flushes stdout once more at exit, which must not fail again.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
