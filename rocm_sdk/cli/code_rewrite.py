"""The command `rocm-sdk code FILE... --output PLACE`, which writes new files with less code, or another container.

rocm-sdk-build writes them; it runs as a process of its own, because the loader only reads.
"""

import signal

from rocm_sdk.base.starting import run_shown
from rocm_sdk.fit.code.build_command import NotInstalledError, build_command
from rocm_sdk.fit.code.options import words_of
from rocm_sdk.terminal.output import complain, end_without_output
from rocm_sdk.terminal.output_options import given_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def rewrite_all(options: "Namespace") -> int:
    """Run rocm-sdk-build, and return its exit status; 1 if it is not installed."""
    try:
        command = build_command("code", *given_words(), *words_of(options))
    except NotInstalledError as error:
        complain(f"new files are not written: {error}", error.fix)
        return 1
    status = run_shown(command)
    if status == -signal.SIGPIPE:
        return end_without_output(BrokenPipeError())
    return status if status >= 0 else 128 - status
