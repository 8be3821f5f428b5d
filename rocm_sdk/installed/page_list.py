"""The page list beside an SDK (docs/cold-starts.md): its place, and the command that records one.

The C library writes the list, in the process that has loaded: ROCM_SDK_RECORD_PAGES names the file.
"""

from __future__ import annotations

import os
from contextlib import suppress

from rocm_sdk._native import load_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .view import Installed

PAGE_LIST = "lib/rocm-sdk.pages"  # in the directory of the core package; it may be replaced, whatever RECORD lists
VARIABLE = "ROCM_SDK_RECORD_PAGES"

_PROGRAM = """\
import sys, rocm_sdk
try:
    rocm_sdk.preload_libraries(*sys.argv[1:])
except rocm_sdk.RocmSdkError as error:
    sys.exit(str(error))
"""


def load_command(installed: Installed) -> list[str]:
    """Return the command that loads all libraries of the SDK; with VARIABLE it records their pages."""
    from rocm_sdk.base.processes import own_code

    return own_code(_PROGRAM, *installed.locations)


def drop_libraries(installed: Installed) -> None:
    """Drop the libraries from the kernel's cache.

    If a file is still in the cache as it was written, the kernel may map 2 MiB for each touched page, and all of that
    would be recorded.
    """
    for step in load_plan(*installed.locations, new_process=True).steps:
        for path in (step.path, *step.members):
            with suppress(OSError), open(path, "rb") as file:  # except pages that another process has mapped
                os.fsync(file.fileno())  # content that is not written yet cannot be dropped
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
