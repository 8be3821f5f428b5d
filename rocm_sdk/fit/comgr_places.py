"""Where comgr writes: its temporary files, without which it does nothing, and its cache.

Sources: sys::path::system_temp_directory and cache_directory of LLVM, comgr's README. Nothing is written to find out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

_TEMPORARY = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")  # LLVM takes the first that is set, whatever its value
_FIRST_WITH_CACHE = 3  # the number in the SONAME of comgr


def place_problems(installed: Installed) -> Iterator[Problem]:
    """Yield a problem for each place where an SDK's comgr cannot write; nothing if there is no comgr."""
    try:
        path = None if "amd_comgr" in installed.sdk.failures() else installed.sdk.locate("amd_comgr").path
    except (RocmSdkError, ImportError):
        return
    if path is None:
        return
    temporary, name = temporary_directory(), temporary_variable()
    if (detail := _refusal(temporary)) is not None:
        otherwise = "" if os.path.lexists(temporary) else f"  # or: mkdir -p {quoted_for_shell(temporary)}"
        facts = (
            {"variable": name, "setting": f"{name}={temporary}", "removal": f"unset {name}{otherwise}"} if name else {}
        )
        yield problem("W-ENV-014", temporary, detail=detail, **facts)
    if (
        _has_cache(path)
        and (cache := _cache_directory())
        and (detail := _refusal(_existing(os.path.abspath(cache)))) is not None
    ):
        yield problem("W-ENV-015", cache, detail=detail)


def temporary_directory() -> str:
    """Return the directory where comgr makes its temporary files."""
    name = temporary_variable()
    return os.environ[name] if name is not None else "/tmp"


def temporary_variable() -> str | None:
    """Return the variable that names this directory; None: none is set."""
    return next((name for name in _TEMPORARY if name in os.environ), None)


def _has_cache(comgr: str) -> bool:
    number = comgr.rpartition(".so.")[2].partition(".")[0]
    return number.isdigit() and int(number) >= _FIRST_WITH_CACHE and os.environ.get("AMD_COMGR_CACHE") != "0"


def _cache_directory() -> str:
    """Return the directory of the cache; "" if comgr finds no place."""
    if named := os.environ.get("AMD_COMGR_CACHE_DIR"):
        return named
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return "" if home.startswith("~") else os.path.join(home, "comgr")  # without a home comgr keeps none


def _existing(directory: str) -> str:
    """Return the directory, or the nearest one above it that exists: comgr makes the missing ones."""
    while not os.path.lexists(directory) and os.path.dirname(directory) not in {"", directory}:
        directory = os.path.dirname(directory)
    return directory


def _refusal(directory: str) -> str | None:
    """Return why no file can be made in a directory; None if one can."""
    if not os.path.isdir(directory):
        return f"{directory} is not a directory" if os.path.lexists(directory) else "there is no such directory"
    if not os.access(directory, os.W_OK | os.X_OK):
        return f"this user may not write to {directory}"
    space = os.statvfs(directory)
    return f"the file system of {directory} is full" if space.f_blocks and not space.f_bavail else None
