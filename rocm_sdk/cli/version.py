"""`rocm-sdk version`: the version of the installed SDK."""

from rocm_sdk._native import sdk_version

TYPE_CHECKING = False  # for type checkers; importing typing takes longer than the command
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = 'pip install "rocm[libraries]==$(rocm-sdk version)"'


def add_arguments(_parser: "ArgumentParser") -> None:
    """There are none."""


def run(_options: "Namespace | None") -> int:
    """Prints the version."""
    print(sdk_version())
    return 0
