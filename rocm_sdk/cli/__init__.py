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
    "completion": "print the completion script for a shell",
    "env": "print the variables that a build needs, for a shell to evaluate",
    "explain": "explain a code that `rocm-sdk test` or an error names",
    "gpus": "print the GPUs of this machine, and why one cannot be used",
    "info": "show everything about this installation",
    "init": "expand the development tree, or bring it up to date",
    "path": "print the file of a library, or a directory of the SDK",
    "run": "start a program that finds this SDK's libraries and tools",
    "store": "look after the store of development files that environments share",
    "targets": "print the gfx targets that the SDK was built for, or flags to build for targets",
    "test": "prove the installation sound, or name what is wrong and how to mend it",
    "tree": "show what loading libraries brings into a process, and what it costs",
    "version": "print the version of the installed SDK",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the command with `arguments` (default: those of the process); returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
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
        if words[:1] == ["path"] and len(words) == 2:
            from . import path

            if words[1] in path.DIRECTORIES:
                return path.print_directory(words[1])
        from .parser import parse

        run, options = parse(words)
        return run(options)
    except KeyboardInterrupt:
        print("rocm-sdk: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone (`| head`). Python flushes stdout once more at exit, which must not fail again.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        from rocm_sdk.errors import RocmSdkError  # only here: it takes as long to import as some answers to find

        if not isinstance(error, RocmSdkError):
            raise
        print(f"rocm-sdk: {error}", file=sys.stderr)
        return 1
