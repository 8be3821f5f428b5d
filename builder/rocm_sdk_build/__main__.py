"""The command `rocm-sdk-build`: its arguments, its output, its errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .base.errors import NO_SPACE, PackagingError
from .commands.table import COMMANDS, make_parser


def main(arguments: Sequence[str] | None = None, program: str = "rocm-sdk-build") -> int:
    """Run a command; return 0 if the command worked.

    After a failure return 1, or 2 for wrong usage, with cause and fix on standard error. `program` is the name with
    which messages begin.
    """
    from rocm_sdk.base.process_end import as_process

    if arguments is not None:
        return _run(arguments, program)
    return as_process(lambda: _run(sys.argv[1:], program))


def _run(arguments: Sequence[str], program: str) -> int:
    import rocm_sdk
    from rocm_sdk.base.given import given
    from rocm_sdk.terminal.output import (
        complain,
        end_without_output,
        explained,
        flushed,
        is_of_output,
        status_of,
        status_of_system_error,
    )
    from rocm_sdk.terminal.output_options import open_standard_streams, take_output_options

    open_standard_streams()
    given.program = program
    options = argparse.Namespace()
    try:
        options = _parse(arguments)
        take_output_options(options)
        return flushed(_run_command(options))
    except SystemExit as ended:  # argparse has ended the command
        return flushed(ended.code if isinstance(ended.code, int) else 1)
    except KeyboardInterrupt as interruption:
        complain(f"interrupted{f': {interruption}' if interruption.args else ''}")
        return 130
    except PackagingError as error:
        _complain(str(error), error.fix)
        return error.status
    except rocm_sdk.RocmSdkError as error:
        _complain(f"{error.message} [{error.code}]", error.fix)
        return status_of(error, arguments)
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module in ("", "rocm_sdk", "rocm_sdk_build") or module in sys.stdlib_module_names:
            raise
        _complain(f"Python has no module {module}, a requirement of rocm-sdk-build", _fix_of_requirements())
        return 1
    except OSError as error:
        if is_of_output(error):
            return end_without_output(error)
        _complain(*explained(error, getattr(options, "output", None) if error.errno in NO_SPACE else None))
        return status_of_system_error(error, arguments)


def _run_command(options: argparse.Namespace) -> int:
    """Return the status of a command, which tells of its steps, and which a signal can end at any time."""
    import logging

    from rocm_sdk.base.given import given
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.base.value_text import harmless

    def is_shown(record: logging.LogRecord) -> bool:
        # The message may hold the content of a file.
        record.msg, record.args = "\n".join(map(harmless, record.getMessage().split("\n"))), None
        return True

    # The log shows all steps on a terminal or with -v, and with -q only what the user should know.
    tells_all = given.verbose or (sys.stderr.isatty() and not given.quiet)
    log = logging.StreamHandler()
    log.addFilter(is_shown)
    logging.basicConfig(format="%(message)s", handlers=[log])
    logging.getLogger().setLevel(logging.INFO if tells_all else logging.WARNING)
    with removed_at_signals():
        return int(options.run(options))


def _fix_of_requirements() -> str:
    """Return the command that installs the requirements.

    pip installs the requirements of a package also if it does not install the package again.
    """
    import shlex
    from importlib.util import find_spec

    from rocm_sdk import loader_version

    of_uv = ["uv", "pip", "install", "--python", sys.executable]
    installer = [sys.executable, "-m", "pip", "install"] if find_spec("pip") else of_uv
    return shlex.join([*installer, f"rocm-sdk-build=={loader_version}"])


def _complain(message: str, fix: str | None) -> None:
    from rocm_sdk.base.value_text import harmless
    from rocm_sdk.terminal.output import complain, complain_fix

    first, *others = message.split("\n")
    complain(first)
    for line in others:
        print(harmless(line), file=sys.stderr)  # the line may hold the content of a file, or the words of a program
    if fix:
        complain_fix(fix)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command.

    Wrong usage ends the process with status 2; a misspelt command or option gets a suggestion.
    """
    from rocm_sdk.terminal.usage import help_asked, parse_words

    words = help_asked(arguments, "rocm-sdk-build") or ["--help"]
    parser = make_parser([word for word in words if not word.startswith("-")][:1])
    return parse_words(parser, COMMANDS, words)


if __name__ == "__main__":
    sys.exit(main())
