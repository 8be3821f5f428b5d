"""`rocm-sdk targets`: the gfx targets that the SDK was built for."""

from typing import TYPE_CHECKING

from rocm_sdk._native import built_targets

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "cmake -DGPU_TARGETS=$(rocm-sdk targets)"


def add_arguments(_parser: "ArgumentParser") -> None:
    """It has none."""


def run(_options: "Namespace | None") -> int:
    """Prints the targets in one line, `;` between them; status 1 where the SDK does not say."""
    targets = built_targets()
    if not targets:
        import sys

        print(
            "rocm-sdk: the installed SDK does not say what it was built for (share/therock/dist_info.json)",
            file=sys.stderr,
        )
        return 1
    print(targets)
    return 0
