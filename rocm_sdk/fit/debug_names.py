"""The names of debug information by build ID, as debuggers and servers of debug information use them.

Sources: debuginfod(8), section WEBAPI; the GDB manual, "Debugging Information in Separate Files".
"""

from __future__ import annotations

import os

from rocm_sdk.base.files import names_in

DEFAULT_DIRECTORY = "/usr/lib/debug"  # GDB's


def debuginfod_path(build_id: str) -> str:
    """Return the path on a debuginfod server, which follows the URL of DEBUGINFOD_URLS."""
    return f"/buildid/{build_id}/debuginfo"


def debug_file(build_id: str) -> str:
    """Return the file in which debuggers look on this machine."""
    return f"{DEFAULT_DIRECTORY}/{debug_name(build_id)}"


def debug_directories(site: str) -> list[str]:
    """Return the directories with debug information of the packages rocm-sdk-debug-*, for debuggers and debuginfod."""
    own = (os.path.join(site, name, "lib/debug") for name in names_in(site) if name.startswith("_rocm_debug"))
    return [path for path in own if os.path.isdir(f"{path}/.build-id")]


def installed_debug_file(build_id: str, directories: list[str]) -> str | None:
    """Return the debug information of a build ID in one of the directories; None if none has it."""
    return next(filter(os.path.isfile, (f"{directory}/{debug_name(build_id)}" for directory in directories)), None)


def debug_name(build_id: str) -> str:
    """Return the file for which debuggers look below a directory."""
    return f".build-id/{build_id[:2]}/{build_id[2:]}.debug"
