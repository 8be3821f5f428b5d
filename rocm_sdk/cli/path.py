"""`rocm-sdk path SHORTNAME`: the file of a library."""

import sys
from typing import TYPE_CHECKING

from rocm_sdk._native import locate

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "ldd $(rocm-sdk path hipsparse)"


def add_arguments(parser: "ArgumentParser") -> None:
    """The name of the library."""
    parser.add_argument("shortname", metavar="SHORTNAME", help="name of a library, as in amdhip64 or hipsparse")


def run(options: "Namespace") -> int:
    """Prints the path; status 1 where the SDK comes without the library."""
    location = locate(options.shortname)
    if location.path is None:
        print(f"rocm-sdk: {location.shortname} is {location.found_via}: this SDK comes without it", file=sys.stderr)
        return 1
    print(location.path)
    return 0
