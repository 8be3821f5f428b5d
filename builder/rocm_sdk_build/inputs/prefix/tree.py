"""The tree that a prefix becomes: each file in its place and its package, with links as in the prefix."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.tree_order import directories_of
from rocm_sdk_build.inputs.catalog import Entry, add_entry
from rocm_sdk_build.inputs.globs import matches
from rocm_sdk_build.inputs.rules import PrefixRules, Rules

from .host_libraries import host_libraries, needs_libraries
from .roots import USR, Found, Search

DEVEL = "devel"
DOCUMENTS = ("share/doc/", "share/licenses/")
_RUNTIME = ("core", "libraries", "device", "profiler")


class Tree(NamedTuple):
    """The files to package, and what a user should know about them."""

    parts: dict[str, list[Entry]]  # package or "devel" -> files and links
    unclassified: tuple[str, ...]  # places of files that no row takes
    lost_links: tuple[str, ...]  # links that lead to nothing in the tree
    other_roots: tuple[Path, ...]  # roots that are not part of ROCm
    host_documents: tuple[Entry, ...]  # documents of these roots, if a library is taken from them


def lay_out(search: Search, rules: Rules, scratch: Path, *, is_complete: bool = False) -> Tree:
    """Put files into a tree, and into packages; return the tree.

    Texts that change are written below `scratch`. Raise PackagingError if two different files go to one place, if there
    is no ROCm, and if libraries are missing (`is_complete`, see `host_libraries`).
    """
    return _Layout(search, rules, scratch, is_complete).run()


class Classification:
    """The assignment of the tree's files to packages, by the rows of a table that are about prefixes."""

    def __init__(self, rules: Rules) -> None:
        included = [(part, glob) for part, row in rules.packages.items() for glob in row.includes]
        self.rows = (*included, *rules.prefix.parts)
        self.excludes = {part: row.excludes for part, row in rules.packages.items()}
        self.members = rules.prefix.members
        self.known: dict[str, str | None] = {}

    def part_of(self, place: str) -> str | None:
        """Return the package that a row names, or "devel"; None: no row takes the file."""
        if place not in self.known:
            self.known[place] = self._first(place)
        return self.known[place]

    def _first(self, place: str) -> str | None:
        for part, glob in self.rows:
            if matches(place, glob) and not any(matches(place, each) for each in self.excludes.get(part, ())):
                return part
        return None

    def is_of_rocm(self, place: str) -> bool:
        """Return whether only a part of ROCm has such a file."""
        return self.part_of(place) in _RUNTIME or any(matches(place, glob) for glob in self.members)


class _Layout:
    def __init__(self, search: Search, rules: Rules, scratch: Path, is_complete: bool) -> None:
        self.search, self.roots, self.found = search, search.roots, search.found
        self.rules, self.scratch, self.is_complete = rules.prefix, scratch, is_complete
        self.classification = Classification(rules)
        self.places = {each.source: place_of(self.rules, each.path) for each in self.found}
        self.entries: dict[str, Entry] = {}
        self.sources: dict[Path, str] = {}  # file or link of a prefix -> its place in the tree
        self.lost: list[str] = []
        self.numbers = count()

    def run(self) -> Tree:
        ours = {each.root for each in self.found if self.classification.is_of_rocm(self.places[each.source])}
        own = [
            each for each in self.found if each.root in ours and not is_skipped(self.rules, self.places[each.source])
        ]
        self.hosts = self._host_libraries([each for each in own if not each.is_link])
        files = [each for each in own if not each.is_link and each.source not in self.hosts.values()]
        for each in files:
            add_entry(self.entries, Entry(self.places[each.source], each.source, "file"))
            self.sources[each.source] = self.places[each.source]
        for each in files:
            self._rewrite(each)
        for place, source in self.hosts.items():
            add_entry(self.entries, Entry(place, source, "file"))
        self.links = {each.source: self.places[each.source] for each in own if each.is_link}
        self.directories = set(directories_of([*self.entries, *self.links.values()]))
        self._add_links([each for each in own if each.is_link])
        others = tuple(root for root in self.roots if root not in ours)
        return self._tree(others, self._host_documents(others))

    def _host_libraries(self, own: list[Found]) -> dict[str, Path]:
        parts = {each.source: self.classification.part_of(self.places[each.source]) for each in own}
        users = [source for source, part in parts.items() if part in _RUNTIME and needs_libraries(source)]
        if not any(parts[each] == "core" and str(PurePosixPath(self.places[each]).parent) == "lib" for each in users):
            raise PackagingError(
                f"{', '.join(map(str, self.roots))}: no library of ROCm is there",
                "name a directory that has lib/libamdhip64.so",
            )
        others = (each.source for each in self.found if not each.is_link and parts.get(each.source) is None)
        return host_libraries(users, others, is_complete=self.is_complete)

    # ---- files ----

    def _rewrite(self, each: Found) -> None:
        """Replace a file whose text must differ in the tree."""
        place = self.places[each.source]
        if self.entries[place].source != each.source or not has_rewrites(self.rules, place):
            return
        before = each.source.read_bytes()
        after = rewritten(self.rules, place, place != each.path, before)
        if after is None or after == before:
            return
        self.scratch.mkdir(exist_ok=True)
        path = self.scratch / str(next(self.numbers))
        path.write_bytes(after)
        shutil.copymode(each.source, path)
        self.entries[place] = Entry(place, path, "file")

    # ---- links ----

    def _add_links(self, links: list[Found]) -> None:
        pending = []
        for each in links:
            final = Path(os.path.realpath(each.source))
            target = self._place_of_target(each.source, final)
            if target is not None:
                self._add_link(
                    each, target, self.entries[self.sources[final]].source if final in self.sources else final
                )
            elif final not in self.hosts.values():  # such a library has one name, the SONAME
                pending.append(each)
        while found := [each for each in pending if self._place_among_roots(each) in self.entries]:
            for each in found:
                target = self._place_among_roots(each)
                self._add_link(each, target, self.entries[target].source)
            pending = [each for each in pending if each not in found]
        self.lost += [str(each.source) for each in pending]

    def _add_link(self, each: Found, target: str, source: Path) -> None:
        place = self.places[each.source]
        if target != place:
            text = os.path.relpath(target, PurePosixPath(place).parent)
            add_entry(self.entries, Entry(place, source, "link", text))

    def _place_among_roots(self, each: Found) -> str:
        """Return the place to which a link leads if all roots are laid over each other, as installed packages are."""
        text = PurePosixPath("/", each.path).parent / each.source.readlink()
        return place_of(self.rules, os.path.normpath(text).lstrip("/").removeprefix(USR))

    def _place_of_target(self, link: Path, final: Path) -> str | None:
        """Return the place in the tree to which a link leads, or None.

        The place is the next link if that is in the tree, or else the file or directory.
        """
        if final in self.sources:
            following = link.parent / link.readlink()
            return self.links.get(Path(os.path.realpath(following.parent), following.name), self.sources[final])
        root = next((root for root in self.roots if root in (final, *final.parents)), None)
        if root is None or not final.is_dir():
            return None
        place = place_of(self.rules, self.search.path_of(root, final))
        return place if place in self.directories else None

    # ---- packages ----

    def _host_documents(self, others: tuple[Path, ...]) -> tuple[Entry, ...]:
        used = {root for root in others if any(root in source.parents for source in self.hosts.values())}
        documents = (each for each in self.found if each.root in used and not each.is_link)
        return tuple(
            Entry(place, each.source, "file")
            for each in documents
            if (place := self.places[each.source]).startswith(DOCUMENTS)
        )

    def _tree(self, other_roots: tuple[Path, ...], host_documents: tuple[Entry, ...]) -> Tree:
        for place in filter(self.entries.__contains__, directories_of(self.entries)):
            below = next(other for other in sorted(self.entries) if other.startswith(f"{place}/"))
            raise PackagingError(
                f"{self.entries[place].source} goes to {place}, and {self.entries[below].source} below it, to {below}"
            )
        parts: dict[str, list[Entry]] = {part: [] for part in (*_RUNTIME, DEVEL)}
        unclassified = []
        for place, entry in sorted(self.entries.items()):
            part = "core" if place in self.hosts else self.classification.part_of(place)
            if part is None and entry.kind == "link":
                part = self.classification.part_of(os.path.normpath(PurePosixPath(place).parent / entry.link))
            if part is None:
                unclassified.append(place)
            parts[part or DEVEL].append(entry)
        for entries in parts.values():
            directories = directories_of(entry.path for entry in entries)
            entries[:0] = [Entry(path, self.scratch, "directory") for path in directories]
        return Tree(parts, tuple(unclassified), tuple(self.lost), other_roots, host_documents)


def place_of(rules: PrefixRules, path: str) -> str:
    """Return the path in the tree of a file or directory with this path in a prefix."""
    for before, after in rules.places:
        if found := _directory(before).match(path):
            return after + path[found.end() :]
    return path


def is_skipped(rules: PrefixRules, place: str) -> bool:
    """Return whether no package gets the file."""
    return any(matches(place, glob) for glob in rules.skipped)


def rewritten(rules: PrefixRules, place: str, is_moved: bool, content: bytes, when: str = "any") -> bytes | None:
    """Return the content of a file in the tree; None: no row is about the file.

    `is_moved` says that the file has another place than in the prefix; rows of `when` are about the others, too.
    """
    rows = [row for row in rules.rewrites if matches(place, row.files) and (is_moved or row.when == when)]
    if not rows:
        return None
    text = content.decode("utf-8", errors="surrogateescape")
    for row in rows:
        text = row.pattern.sub(row.text, text)
    return text.encode("utf-8", errors="surrogateescape")


def has_rewrites(rules: PrefixRules, place: str) -> bool:
    """Return whether a row is about the file, wherever it was."""
    return any(matches(place, row.files) for row in rules.rewrites)


@cache
def _directory(pattern: str) -> re.Pattern[str]:
    """Return the pattern of the beginning of a path; `*` is a part of a name."""
    return re.compile("[^/]*".join(map(re.escape, pattern.split("*"))) + "(?=/|$)")
