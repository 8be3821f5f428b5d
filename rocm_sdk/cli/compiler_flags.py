"""The options of `python -m rocm_sdk --cflags --libs`, for compilers of extension modules that use the capsule."""

import argparse
import shlex

from rocm_sdk import get_include

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

# Option -> its help. The program takes them instead of a command.
OPTIONS = {
    "--cflags": "print the flags with which C and C++ find rocm_sdk/capsule.h, for a shell",
    "--libs": "print the flags to link with: none, since the capsule has the functions",
}


def run(asked: "Sequence[str]") -> int:
    """Print the flags on one line, and return status 0."""
    print(shlex.quote(f"-I{get_include()}") if "--cflags" in asked else "")
    return 0


class Alone(argparse.Action):
    """The refusal of an option of OPTIONS beside other words."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> "NoReturn":
        """End the program with a usage error, which says that the options stand alone."""
        parser.error(f"{' and '.join(OPTIONS)} stand alone: python -m rocm_sdk {' '.join(OPTIONS)}")
