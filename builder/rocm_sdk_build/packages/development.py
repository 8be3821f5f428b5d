"""The content of the development tree: links to the runtime packages' files, and all files that these lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.tree_order import directories_of, rank
from rocm_sdk_build.inputs.catalog import Artifact, Entry, is_same_file

from .population import Population


class DevelEntry(NamedTuple):
    """A member of the archive: a directory, a link with its text, or a file."""

    path: str
    kind: str  # "directory", "link", "file"
    link: str = ""
    source: Path | None = None
    text: bytes | None = None  # the content of a file whose source has another


def plan_development(artifacts: Iterable[Artifact], runtime: Mapping[str, Population]) -> list[DevelEntry]:
    """Return the tree, in the order of its members.

    `runtime` has the files of each platform directory. A file that a runtime package has becomes a link to that file,
    in the layout of site-packages. Other names of libraries become links to the SONAME beside them. Raise
    PackagingError if the tree would have two different files at one path.
    """
    entries: dict[str, DevelEntry] = {}
    for artifact in artifacts:
        for entry in artifact.entries:
            found = _entry_for(entry, runtime)
            other = entries.setdefault(entry.path, found)
            if other != found and not _is_same(other, found):
                raise PackagingError(
                    f"the development tree would have two different files {entry.path}: {entry.source}"
                )
    for directory, population in runtime.items():
        for path in population.files:
            if path not in entries and not path.endswith("/__init__.py"):
                entries[path] = _runtime_link(path, directory)
    for path in directories_of(entries):
        entries.setdefault(path, DevelEntry(path, "directory"))
    return sorted(entries.values(), key=lambda entry: (rank(entry.kind, entry.link, runtime), entry.path))


def _entry_for(entry: Entry, runtime: Mapping[str, Population]) -> DevelEntry:
    path = entry.path
    if entry.kind == "directory":
        return DevelEntry(path, "directory")
    for population in runtime.values():
        if path in population.aliases:
            return DevelEntry(path, "link", population.aliases[path])
    for directory, population in runtime.items():
        if path in population.files:
            return _runtime_link(path, directory)
    if entry.kind == "link":
        return DevelEntry(path, "link", entry.link)
    return DevelEntry(path, "file", source=entry.source)


def _runtime_link(path: str, directory: str) -> DevelEntry:
    up = PurePosixPath("/".join([".."] * len(PurePosixPath(path).parts)))
    return DevelEntry(path, "link", str(up / directory / path))


def _is_same(one: DevelEntry, other: DevelEntry) -> bool:
    return one.source is not None and other.source is not None and is_same_file(one.source, other.source)
