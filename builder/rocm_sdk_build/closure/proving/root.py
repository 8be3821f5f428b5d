"""The parts of a proof's root: files and whole directories of this system, links, and small files of our own.

This module writes nothing except copies of files that the program may not read. A directory is taken whole if each file
in it is wanted and the program may read it; otherwise its files are taken one by one. So a framework of ten thousand
files takes few mounts.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.base.scratch import PREFIX

_CACHE = "__pycache__"
_LINKED = ("bin", "lib", "lib64", "lib32", "sbin")  # directories that most systems link to /usr
_FOR_ALL = {False: 0o004, True: 0o005}  # rights of a file, of a directory


class Entry(NamedTuple):
    """An entry of a directory; `kind` is a file type of stat(2)."""

    name: str
    path: str
    kind: int
    mode: int
    size: int


class Root:
    """The root of a proof; places are relative to it.

    With `for_others` the program runs as another user, for whom files that he may not read are copied to `copies`.
    """

    def __init__(self, copies: Path, *, for_others: bool) -> None:
        self.parts: dict[str, str] = {}  # place -> file or directory of this system
        self.links: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.size = 0  # bytes
        self._copies, self._for_others = copies, for_others
        self._system_links = {name: os.readlink(f"/{name}") for name in _LINKED if os.path.islink(f"/{name}")}
        self.links |= self._system_links

    def place_of(self, path: str) -> str:
        """Return the place of an absolute path.

        The system's links to directories of /usr are links in the root, too.
        """
        first, _, rest = path.lstrip("/").partition("/")
        return f"usr/{first}/{rest}" if first in self._system_links else path.lstrip("/")

    def add_file(self, path: str, place: str | None = None) -> None:
        """Add a file of this system, at the same place or another one."""
        facts, real = os.stat(path), os.path.realpath(path)
        self.size += facts.st_size
        if not self._may_read(facts.st_mode, is_directory=False):
            self._copies.mkdir(exist_ok=True)
            copy = self._copies / str(len(self.parts))
            shutil.copyfile(real, copy)
            copy.chmod(0o555)
            real = str(copy)
        self.parts[self.place_of(path) if place is None else place] = real

    def add_tree(
        self,
        top: str,
        place: str | None = None,
        *,
        chosen: Collection[str] | None = None,
        without: Collection[str] = (),
    ) -> None:
        """Add a directory's files, or with `chosen` only these; `without` are names in the directory itself."""
        tree = _Tree(top, chosen, without, self._may_read)
        base = self.place_of(top) if place is None else place
        for entry in tree.entries():
            at = os.path.normpath(os.path.join(base, os.path.relpath(entry.path, top)))
            if entry.kind == stat.S_IFLNK:
                self.links[at] = os.readlink(entry.path)
            elif entry.kind == stat.S_IFDIR:
                self.parts[at] = entry.path
                self.size += entry.size
            else:
                self.add_file(entry.path, at)

    def _may_read(self, mode: int, *, is_directory: bool) -> bool:
        needed = _FOR_ALL[is_directory]
        return not self._for_others or mode & needed == needed


class _Tree:
    """The files below a directory, and the directories that are whole."""

    def __init__(
        self,
        top: str,
        chosen: Collection[str] | None,
        without: Collection[str],
        may_read: Callable[..., bool],
    ) -> None:
        self._top, self._chosen, self._may_read = top, chosen, may_read
        self._above: set[str] = set()
        for path in chosen or ():
            while (path := os.path.dirname(path)) not in self._above and len(path) > len(top):
                self._above.add(path)
        self._listed: dict[str, list[Entry]] = {}
        waiting = [top]
        while waiting:
            directory = waiting.pop()
            found = [each for each in _listing(directory) if not (directory == top and each.name in without)]
            self._listed[directory] = found
            waiting += [each.path for each in found if self._is_entered(each)]
        self._sizes: dict[str, int] = {}  # sizes of directories that are whole
        for directory in reversed(self._listed):
            if not (directory == top and without):
                self._look_at(directory)

    def _is_entered(self, entry: Entry) -> bool:
        is_chosen = self._chosen is None or entry.path in self._above
        is_ours = entry.name.startswith(PREFIX)  # a scratch directory, such as this run's
        return entry.kind == stat.S_IFDIR and entry.name != _CACHE and is_chosen and not is_ours

    def _look_at(self, directory: str) -> None:
        """Note the size of a directory if it is whole; the directories in it were looked at before."""
        total = 0
        for entry in self._listed[directory]:
            if entry.kind == stat.S_IFDIR:
                is_whole = entry.name == _CACHE or (
                    entry.path in self._sizes and self._may_read(entry.mode, is_directory=True)
                )
                total += self._sizes.get(entry.path, 0)
            elif entry.kind == stat.S_IFLNK:
                is_whole = self._stays_inside(entry.path)
            else:
                is_whole = self._is_taken(entry) and self._may_read(entry.mode, is_directory=False)
                total += entry.size
            if not is_whole:
                return
        self._sizes[directory] = total

    def entries(self) -> Iterator[Entry]:
        """Yield whole directories, and files and links of the others; a link that leads elsewhere is its file."""
        facts = os.stat(self._top)
        waiting = [self._top]
        if self._top in self._sizes and self._may_read(facts.st_mode, is_directory=True):
            yield Entry("", self._top, stat.S_IFDIR, facts.st_mode, self._sizes[self._top])
            waiting.clear()
        while waiting:
            directory = waiting.pop()
            for entry in self._listed[directory]:
                if entry.path in self._sizes and self._may_read(entry.mode, is_directory=True):
                    yield entry._replace(size=self._sizes[entry.path])
                elif entry.path in self._listed:
                    waiting.append(entry.path)
                elif entry.kind == stat.S_IFLNK and self._stays_inside(entry.path):
                    yield entry
                elif self._is_taken(entry):
                    yield entry._replace(kind=stat.S_IFREG)

    def _is_taken(self, entry: Entry) -> bool:
        if self._chosen is not None and entry.path not in self._chosen:
            return False
        return entry.kind == stat.S_IFREG or (entry.kind == stat.S_IFLNK and os.path.isfile(entry.path))

    def _stays_inside(self, path: str) -> bool:
        """Return whether a link is relative, and leads to something below the directory."""
        text = os.readlink(path)
        top = os.path.realpath(self._top)
        return not os.path.isabs(text) and os.path.exists(path) and os.path.realpath(path).startswith(f"{top}/")


def _listing(directory: str) -> list[Entry]:
    found = []
    with os.scandir(directory) as entries:
        for each in entries:
            facts = each.stat(follow_symlinks=False)
            found.append(Entry(each.name, each.path, stat.S_IFMT(facts.st_mode), facts.st_mode, facts.st_size))
    return found
