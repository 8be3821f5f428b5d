"""The libraries of the SDK that libraries and programs need, directly or not, by their DT_NEEDED entries."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from .shared_objects import SharedObject, inspect


class NeededLibraries:
    """Which shared objects need each other."""

    def __init__(self, objects: Iterable[SharedObject]) -> None:
        self._by_path: dict[str, SharedObject] = {}
        self._by_name: dict[str, SharedObject] = {}
        self._fifos: dict[str, str | None] = {}  # by name
        for each in objects:
            self._by_path[each.path] = each
            self._by_name.setdefault(each.name, each)
        self._directories = dict.fromkeys(os.path.dirname(path) for path in self._by_path)
        for each in self._by_path.values():  # a file whose name has the whole version is needed by its SONAME
            if each.facts is not None and each.facts.soname is not None:
                self._by_name.setdefault(each.facts.soname, each)

    def of(self, path: str) -> list[SharedObject]:
        """Return a file and all files that it needs, itself first, in the order in which the linker loads them."""
        found: dict[str, SharedObject] = {}
        pending = [self._by_path.get(path) or inspect(path)]
        while pending:
            each = pending.pop(0)
            if each.path not in found:
                found[each.path] = each
                pending += [self._by_name[name] for name in names_needed(each) if name in self._by_name]
        return list(found.values())

    def missing(self, path: str) -> list[str]:
        """Return the names that a file, or a file that it needs, asks for and that no file of the SDK has."""
        names = (name for each in self.of(path) for name in names_needed(each))
        return list(dict.fromkeys(name for name in names if name not in self._by_name))

    def fifo_below(self, path: str) -> str | None:
        """Return a FIFO where something that a file needs should be; None if there is none.

        Whoever opens a FIFO waits for a writer.
        """
        return next(filter(None, map(self._fifo, self.missing(path))), None)

    def _fifo(self, name: str) -> str | None:
        if name not in self._fifos:
            places = (os.path.join(directory, name) for directory in self._directories)
            self._fifos[name] = next((place for place in places if _is_fifo(place)), None)
        return self._fifos[name]


def names_needed(each: SharedObject) -> tuple[str, ...]:
    """Return the DT_NEEDED entries of a shared object; () if the file cannot be used."""
    return each.facts.needed if each.facts is not None else ()


def _is_fifo(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False
