"""The command `rocm-sdk-build`: its arguments, its output, its errors."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from .commands.table import COMMANDS, add_commands
from .errors import PackagingError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it worked, 1 with cause and fix on standard error if not."""
    from rocm_sdk import RocmSdkError
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.base.value_text import harmless
    from rocm_sdk.terminal.output import complain, end_without_output
    from rocm_sdk_build.code.pieces import NO_SPACE

    logging.basicConfig(format="%(message)s", level=logging.INFO if sys.stderr.isatty() else logging.WARNING)
    options = argparse.Namespace()
    try:
        with removed_at_signals():
            options = _parse(sys.argv[1:] if arguments is None else arguments)
            status = int(options.run(options))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except PackagingError as error:
        message, fix = str(error), error.fix
    except RocmSdkError as error:
        message, fix = error.message, error.fix or ""
    except BrokenPipeError as error:  # of stdout
        return end_without_output(error)
    except OSError as error:
        place = error.filename or (getattr(options, "output", None) if error.errno in NO_SPACE else None)
        message, fix = f"{place}: {error.strerror}" if place else str(error), ""
    for line in (f"error: {message}\nfix: {fix}" if fix else f"error: {message}").split("\n"):
        print(harmless(line), file=sys.stderr)  # it may hold what a file has, or a program says
    return 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Wrong usage ends the process with status 2; a misspelt command gets a suggestion."""
    from rocm_sdk import loader_version
    from rocm_sdk._native import nearest_names

    parser = argparse.ArgumentParser(prog="rocm-sdk-build", description="Make wheels of a ROCm SDK.")
    own = f"rocm-sdk-build {loader_version}"  # it requires the loader of its own version
    parser.add_argument("--version", action="version", version=own)
    add_commands(parser, [word for word in arguments if not word.startswith("-")][:1])
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        near = " or ".join(nearest_names(arguments[0], tuple(COMMANDS), 2))
        parser.error(f"there is no command {arguments[0]!r}{near and f'; did you mean {near}?'}")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
