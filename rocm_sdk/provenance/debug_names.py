"""The names of debug information by build ID, as debuggers and servers of debug information use them.

Sources: debuginfod(8), section WEBAPI; the GDB manual, "Debugging Information in Separate Files".
"""

from __future__ import annotations

_DIRECTORY = "/usr/lib/debug/.build-id"  # GDB's default


def debuginfod_path(build_id: str) -> str:
    """The path on a server of debuginfod, behind the URL of DEBUGINFOD_URLS."""
    return f"/buildid/{build_id}/debuginfo"


def debug_file(build_id: str) -> str:
    """The file in which debuggers look on this machine."""
    return f"{_DIRECTORY}/{build_id[:2]}/{build_id[2:]}.debug"
