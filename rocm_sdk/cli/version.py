"""`rocm-sdk version`: the version of the installed SDK."""

from rocm_sdk._native import sdk_version

TYPE_CHECKING = False  # for type checkers; the module typing takes longer to import than the answer to find
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = 'pip install "rocm[libraries]==$(rocm-sdk version)"'


def add_arguments(_parser: "ArgumentParser") -> None:
    """It has none."""


def run(_options: "Namespace | None") -> int:
    """Prints the version."""
    print(sdk_version())
    return 0
