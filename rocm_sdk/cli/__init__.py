"""The command `rocm-sdk`. Each subcommand has a file; a new one is a row in `commands.COMMANDS`.

stdout has only the result, for `$(...)`; everything else goes to stderr. The exit status is 0, 1 if there is no
result, 2 for wrong usage. A call imports only the module of its command, and argparse if the call is not a plain one.
"""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command with `arguments` (default: the process's). Return the exit status."""
    from rocm_sdk.terminal.output_options import open_standard_streams

    open_standard_streams()
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except KeyboardInterrupt as interruption:
        # The exception says what was left behind, if that is known.
        print(f"rocm-sdk: interrupted{f': {interruption}' if interruption.args else ''}", file=sys.stderr)
        return 130
    except SystemExit as ended:  # of argparse
        from rocm_sdk.terminal.output import flushed

        return flushed(ended.code if isinstance(ended.code, int) else 1)
    except Exception as error:
        from rocm_sdk.errors import RocmSdkError  # here, because the import takes as long as some commands

        if isinstance(error, RocmSdkError):
            from rocm_sdk.terminal.output import complain_of, flushed, status_of

            complain_of(error)
            return flushed(status_of(error, sys.argv[1:] if arguments is None else arguments))
        if not isinstance(error, OSError):
            raise
        import errno

        from rocm_sdk.terminal.output import complain, end_without_output, explained, flushed, is_of_output

        # A long text is not kept for a second try. Errors of other files name the files.
        is_of_text = error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        if is_of_text or is_of_output(error):
            return end_without_output(error)
        complain(*explained(error))
        return flushed(1)
    return status


def _run(given: list[str]) -> int:
    from rocm_sdk.terminal.output_options import take_output_options

    from .commands import COMMANDS, module_of

    if given and given[0] in COMMANDS:
        from .plain_call import plain_options

        module = module_of(given[0])
        options = plain_options(module, given[1:])
        if options is not None:
            take_output_options(options)
            options.typed = given
            status: int = module.run(options)
            return status
    if not given:
        from .overview import run as show_overview

        return show_overview()
    if {"--cflags", "--libs"}.issuperset(given):
        from .compiler_flags import run as tell_flags

        return tell_flags(given)
    from .parser import parse

    run, parsed = parse(given)
    take_output_options(parsed)
    parsed.typed = given
    return run(parsed)


_shown: set[str] = set()


def show_warning(message: str) -> None:
    """Show a warning of the package. The interpreter's own form would show lines of Python code."""
    from rocm_sdk.terminal.output import complain

    if message not in _shown:
        _shown.add(message)
        complain(message)
