"""What `rocm-sdk init --record-pages` and `run --record-pages` do: they write the page list of the SDK."""

from __future__ import annotations

import os

from rocm_sdk.terminal.output import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.installed.view import Installed

HELP = "write which pages of the libraries %s, for later loads to read ahead"


def prepare(installed: Installed) -> str | None:
    """Return the path of the SDK's list; None, after a message, if it cannot be written there."""
    from rocm_sdk.installed.page_list import PAGE_LIST, drop_libraries

    core = installed.sdk.package_directory("core")
    directory = os.path.dirname(f"{core}/{PAGE_LIST}")
    if not os.access(directory, os.W_OK | os.X_OK):
        complain(f"{directory} cannot be written to", "let its owner record the pages")
        return None
    drop_libraries(installed)
    return f"{core}/{PAGE_LIST}"


def record(installed: Installed) -> str | None:
    """Load all libraries of the SDK in a separate process, and write the list.

    Return its path; None if that fails.
    """
    from rocm_sdk.base.processes import run
    from rocm_sdk.installed.page_list import VARIABLE, load_command

    place = prepare(installed)
    if place is None:
        return None
    before = _identity(place)
    done = run(load_command(installed), variables={VARIABLE: place})
    if done.returncode or _identity(place) == before:
        complain(done.stderr.strip() or f"the process that loads all libraries ends with status {done.returncode}")
        return None
    return place


def _identity(path: str) -> int | None:
    """Return the identity of the file at this path; None if there is none. Each list is a new file."""
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None
