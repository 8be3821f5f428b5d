"""`rocm-sdk explain`: the page of a problem code."""

from .output import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "rocm-sdk explain E-LIB-002"


def add_arguments(parser: "ArgumentParser") -> None:
    """The code."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code such as E-LIB-002 (default: list all codes)")


def run(options: "Namespace") -> int:
    """Prints the page or the list; status 1 for an unknown code, with the nearest known ones."""
    from rocm_sdk.problems import ENTRIES
    from rocm_sdk.problems.page import markdown

    if options.code is None:
        for code, entry in ENTRIES.items():
            print(f"{code:<13} {entry.title}")
        return 0
    code = options.code.upper()
    if code not in ENTRIES:
        from rocm_sdk._native import nearest_names

        near = ", ".join(nearest_names(code, tuple(ENTRIES)))
        complain(f"there is no code {options.code}{near and f'; did you mean {near}?'}")
        return 1
    print(markdown(code))
    return 0
