"""The variables that a parent leaves to its children, and the parts of them that lead out of the SDK.

Variables of a running profiler are intended: without them, the program would not be profiled.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from rocm_sdk._native import inherited_variables
from rocm_sdk.base.files import is_below
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.base.value_text import quoted_for_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .view import Installed

_SEPARATORS = re.compile(r"[:;, ]+")
# Programs that set variables for what they start, and stay: rocprofv3 is one in Python, so its name comes second.
_PROFILERS = re.compile(r"(rocprof(v[23]|-sys-\w+|-compute|-attach)?|omnitrace-\w+|omniperf)(\.py)?")
_TOOL = re.compile(r"lib(rocprofiler|rocprof|roctracer)[\w-]*\.so\b")
_ANCESTORS = 64  # that are looked at


class Row(NamedTuple):
    """A row of the table."""

    name: str  # with "*" at its end: all that begin like this
    kind: str  # "file", "directory", "list", "switch"
    is_of_profilers: bool
    set_by: str
    harm: str


class Inherited(NamedTuple):
    """A variable that is set."""

    name: str
    value: str
    row: Row
    outside: tuple[str, ...]  # the entries that lead out of the SDK, or to nothing in it
    kept: str | None  # the value without them; None: nothing is left

    @property
    def removal(self) -> str:
        """The shell line after which nothing leads out of the SDK."""
        return f"unset {self.name}" if self.kept is None else f"export {self.name}={quoted_for_shell(self.kept)}"


def inherited(installed: Installed, variables: Mapping[str, str]) -> Iterator[Inherited]:
    """Yield the variables of the table that are set, in its order, except those of a running profiler."""
    running: list[bytes] | None = None
    for row in map(Row._make, inherited_variables()):
        for name in _named(row, variables):
            found = _judged(installed, name, variables[name], row)
            if row.is_of_profilers:
                running = _profilers(variables) if running is None else running
                # What a running profiler has set did not come from its own parent.
                entry = os.fsencode(f"{found.name}={found.value}")
                if any(entry not in environment.split(b"\0") for environment in running):
                    continue
            yield found


def leading_out(installed: Installed, variables: Mapping[str, str]) -> list[Inherited]:
    """Return the variables that lead out of the SDK."""
    return [each for each in inherited(installed, variables) if each.outside]


def _named(row: Row, variables: Mapping[str, str]) -> list[str]:
    if not row.name.endswith("*"):
        return [row.name] if variables.get(row.name) else []
    own = {name for name, *_ in inherited_variables()}
    return sorted(name for name in variables if name.startswith(row.name[:-1]) and variables[name] and name not in own)


def _judged(installed: Installed, name: str, value: str, row: Row) -> Inherited:
    places = _places(installed)
    if row.kind == "switch" or not places:
        return Inherited(name, value, row, (), value)
    entries = [each for each in _SEPARATORS.split(value) if each] if row.kind == "list" else [value]
    outside = tuple(each for each in entries if "/" in each and not _is_of_sdk(places, each))
    kept = [each for each in entries if each not in outside]
    rest = value[len(entries[0])] if len(entries) > 1 else ""  # the separator of the value
    return Inherited(name, value, row, outside, rest.join(kept) or None if outside else value)


def _places(installed: Installed) -> list[str]:
    """Return the real paths of the directories that the SDK is in: its packages, or its prefix. []: there is none."""
    if installed.prefix is not None or installed.fallback is not None:
        return [os.path.realpath(installed.site)]
    return [os.path.realpath(each) for each in installed.platform_directories]


def _is_of_sdk(places: list[str], path: str) -> bool:
    real = os.path.realpath(path)
    return os.path.exists(real) and any(is_below(real, each) for each in places)


# ---- profilers that run


def _profilers(variables: Mapping[str, str]) -> list[bytes]:
    """Return the environment of each profiler that runs this process, as it was at its start.

    A profiler that has become this program has left its tool in it, through LD_PRELOAD; it no longer has its own
    environment.
    """
    found = [b""] if any(map(_is_loaded_tool, entries_of("LD_PRELOAD", variables.get("LD_PRELOAD", "")))) else []
    pid = os.getppid()
    for _ in range(_ANCESTORS):
        words = _read(f"/proc/{pid}/cmdline").split(b"\0")
        if any(_PROFILERS.fullmatch(os.path.basename(os.fsdecode(word))) for word in words[:3]):
            found.append(_read(f"/proc/{pid}/environ"))
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        pid = int(fields[1]) if len(fields) > 1 else 0
        if pid <= 1:
            break
    return found


def _is_loaded_tool(path: str) -> bool:
    """Return whether a profiler's tool is in this process."""
    real = os.fsencode(os.path.realpath(path))
    if not _TOOL.match(os.path.basename(path)) and not _needs_profiler(path):
        return False
    return any(line.endswith(b" " + real) for line in _read("/proc/self/maps").splitlines())


def _needs_profiler(path: str) -> bool:
    from rocm_sdk._native import inspect_library
    from rocm_sdk.errors import RocmSdkError

    try:
        return any(_TOOL.match(name) for name in inspect_library(path).needed)
    except RocmSdkError:
        return False


def _read(path: str) -> bytes:
    with suppress(OSError), open(path, "rb") as file:
        return file.read()
    return b""
