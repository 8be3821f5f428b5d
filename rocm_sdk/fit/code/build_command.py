"""The start of rocm-sdk-build, which writes what the loader only reads.

The package is never imported here: it needs the loader.
"""

import sys

from rocm_sdk._native import loader_version
from rocm_sdk.base.processes import own_code

_DISTRIBUTION = "rocm-sdk-build"
_PROGRAM = """
import sys
from rocm_sdk_build.__main__ import main
sys.exit(main(program="rocm-sdk"))
"""


class NotInstalledError(Exception):
    """The error for an rocm-sdk-build of this version that is not installed. `fix` installs it."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


def build_command(*words: str) -> list[str]:
    """Return the command line that runs rocm-sdk-build with these words. Raise NotInstalledError."""
    from rocm_sdk.base.own_wheels import install_command

    fix = install_command(_DISTRIBUTION)
    if getattr(sys, "frozen", False):
        raise NotInstalledError(f"{_DISTRIBUTION} cannot run in a frozen program", f"in a Python environment: {fix}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(_DISTRIBUTION)
    except PackageNotFoundError:
        raise NotInstalledError(f"{_DISTRIBUTION} is not installed", fix) from None
    if found != loader_version:
        raise NotInstalledError(f"{_DISTRIBUTION} {found} is installed, and this loader is {loader_version}", fix)
    return own_code(_PROGRAM, *words)
