"""The parts of output that every command of both programs has: open streams, options, and what this run was given."""

import io
import sys

from rocm_sdk.base.given import given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Protocol

    class Options(Protocol):
        """The options, from argparse or of a plain call."""

        quiet: bool
        verbose: bool
        progress: bool
        color: str


OUTPUT = "output"  # the title of the options that every command has
_WHEN = ("auto", "always", "never")


def open_standard_streams() -> None:
    """Open /dev/null for each closed stream: Python has no stream for it, and the next file would take its number.

    An unbuffered stdout gets a buffer, for a line: the buffer keeps what cannot be written (`is_of_output`).
    """
    import os

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while (descriptor := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8"))
    old = sys.stdout
    if isinstance(getattr(old, "buffer", None), io.RawIOBase):  # PYTHONUNBUFFERED
        sys.stdout = os.fdopen(old.fileno(), "w", 1, encoding=old.encoding, errors=old.errors, closefd=False)


def add_output_options(parser: "ArgumentParser") -> None:
    """Add the output options to a command, after its own."""
    group = parser.add_argument_group(OUTPUT)
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, and no messages of what is done")
    group.add_argument("-v", "--verbose", action="store_true", help="also what is otherwise left out or only counted")
    group.add_argument("--progress", action="store_true", help="a line every ten seconds, as with CI set")
    group.add_argument(
        "--color",
        choices=_WHEN,
        default="auto",
        help="auto: colour on terminals; NO_COLOR and FORCE_COLOR are honoured",
    )


def given_words() -> list[str]:
    """Return the options of this run, for another of our programs that it starts."""
    flags = {"--quiet": given.quiet, "--verbose": given.verbose, "--progress": given.progress}
    return [*(name for name, is_given in flags.items() if is_given), f"--color={given.color}"]


def take_output_options(options: "Options") -> None:
    """Remember the options of a command."""
    given.quiet, given.verbose = options.quiet, options.verbose
    given.progress, given.color = options.progress, options.color
