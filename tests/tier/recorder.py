"""The recorder of the lines and branches of measured packages that a case reaches, in each process of the case.

`make tier` puts this module into the environment of a measured run, by a `.pth` file. A process looks for the case that
started it: the nearest ancestor whose number is a file in `current/`, which names the map of its case. A map has the
bytes of branches, then one for each line of each measured file (`files.tsv`). All processes of a case share it in
memory, so that kills, forks and sudden exits lose nothing. CPython 3.12 or 3.13: later ones tell of branches otherwise.
"""

import mmap
import os
import sys
from types import CodeType

DIRECTORY = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../build/reach"))
BRANCHES = 1 << 18  # bytes; two branches may share one, by chance
_PACKAGES = ("rocm_sdk", "rocm_sdk_build", "rocm_sdk_variant_provider")
_TOOL = 4


def measured_name(path: str) -> str:
    """Return the name of a file from its package on, wherever the package lies; "" if it is of no measured package."""
    parts = path.split("/")
    starts = [i for i, part in enumerate(parts) if part in _PACKAGES]
    return "/".join(parts[starts[-1] :]) if starts else ""


class Recorder:
    """The map of the current case, and the hooks that write to it."""

    def __init__(self) -> None:
        self.bases: dict[str, int] = {}
        self.size = BRANCHES
        with open(os.path.join(DIRECTORY, "files.tsv"), encoding="utf-8") as table:
            for row in table:
                base, count, name = row.rstrip("\n").split("\t")
                self.bases[name] = int(base)
                self.size = max(self.size, int(base) + int(count))
        self.map: mmap.mmap | None = None
        self.seen: dict[tuple[CodeType, int], int] = {}

    def use(self, path: str) -> None:
        """Write to the map of this path from now on."""
        descriptor = os.open(path, os.O_RDWR)
        try:
            self.map = mmap.mmap(descriptor, self.size)
        finally:
            os.close(descriptor)
        self.seen = {}
        if sys.monitoring.get_tool(_TOOL) is None:
            self._listen()
        else:
            sys.monitoring.restart_events()

    def _listen(self) -> None:
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(_TOOL, "reach")
        sys.monitoring.register_callback(_TOOL, events.PY_START, self._start)
        sys.monitoring.register_callback(_TOOL, events.LINE, self._line)
        sys.monitoring.register_callback(_TOOL, events.BRANCH, self._branch)
        sys.monitoring.set_events(_TOOL, events.PY_START)

    def _start(self, code: CodeType, _: int) -> object:
        base = self.bases.get(measured_name(code.co_filename))
        if base is not None:
            self.bases[code.co_filename] = base
            sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE | sys.monitoring.events.BRANCH)
        return sys.monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> object:
        if self.map is not None:
            self.map[self.bases[code.co_filename] + line] = 1
        return sys.monitoring.DISABLE

    def _branch(self, code: CodeType, offset: int, target: int) -> object:
        """Note a way of a branch; the event stays on until both ways were taken, because both count."""
        before = self.seen.setdefault((code, offset), target)
        if self.map is not None:
            start = self.bases[code.co_filename] + code.co_firstlineno
            self.map[(start * 31 + offset * 7919 + target * 104729) % BRANCHES] = 1
        return None if before == target else sys.monitoring.DISABLE


def current_map() -> str | None:
    """Return the path of the map of the case that started this process, or None."""
    process = os.getpid()
    while process > 1:
        try:
            with open(os.path.join(DIRECTORY, "current", str(process)), encoding="utf-8") as file:
                return file.read()
        except OSError:
            pass
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                process = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
    return None


def record() -> None:
    """Record in this process if a case started it."""
    try:
        path = current_map()
        if path:
            Recorder().use(path)
    except OSError:
        pass  # a process without rights to the map is not measured


record()
