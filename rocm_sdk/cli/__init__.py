"""The command `rocm-sdk`. One file per subcommand; a new one is a row in `parser.COMMANDS`.

stdout has the result alone, for `$(...)`; everything else goes to stderr. The exit status is 0, 1 if there is no
result, 2 for wrong usage. Calls without options skip argparse, whose import takes longer than most results.
"""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Runs the command with `arguments` (default: those of the process); returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if given == ["version"]:
            from . import version

            return version.run(None)
        if given == ["targets"]:
            from . import targets

            return targets.run(None)
        if given == ["gpus", "--arch"]:
            from . import gpus

            return gpus.print_targets()
        if given[:1] == ["path"] and len(given) == 2:
            from . import path

            if given[1] in path.DIRECTORIES:
                return path.print_directory(given[1])
        from .parser import parse

        run, options = parse(given)
        return run(options)
    except KeyboardInterrupt:
        print("rocm-sdk: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has exited (`| head`). Python flushes stdout once more at exit, which must not fail again.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        from rocm_sdk.errors import RocmSdkError  # here, because the import takes as long as some commands

        if not isinstance(error, RocmSdkError):
            raise
        from .output import complain

        complain(f"{error.message} [{error.code}]", error.fix)
        return 1


_shown: set[str] = set()


def show_warning(message: str) -> None:
    """Takes the warnings of the package in place of the interpreter, whose form shows lines of Python code."""
    from .output import complain

    if message not in _shown:
        _shown.add(message)
        complain(message)
