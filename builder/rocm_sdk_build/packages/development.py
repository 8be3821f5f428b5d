"""The content of the development tree: links to the runtime packages' files, and all files that these lack.

Texts for pkg-config name no directory of the machine of the build.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from rocm_sdk.base.files import read_beginning
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.tree_order import directories_of, rank
from rocm_sdk_build.inputs.catalog import Artifact, Entry, is_same_file
from rocm_sdk_build.inputs.prefix.tree import rewritten
from rocm_sdk_build.inputs.rules import Rules

from .package import DevelEntry, Package

_log = logging.getLogger(__name__)
_LIMIT = 1 << 20  # bytes of a text
_OF_BUILD = re.compile(rb"(?:[\s=\"']|-[IL])(/(?!(?:usr|lib\w*|etc)\b)[^\s\"']+)")


def plan_development(artifacts: Iterable[Artifact], packages: Iterable[Package], rules: Rules) -> list[DevelEntry]:
    """Return the tree, in the order of its members.

    `packages` are the runtime packages. A file that a runtime package has becomes a link to that file,
    in the layout of site-packages. Other names of libraries become links to the SONAME beside them. Raise
    PackagingError if the tree would have two different files at one path.
    """
    runtime = {str(each.platform_directory): each for each in packages}
    entries: dict[str, DevelEntry] = {}
    for artifact in artifacts:
        for entry in artifact.entries:
            found = _entry_for(entry, runtime)
            other = entries.setdefault(entry.path, found)
            if other != found and not _is_same(other, found):
                raise PackagingError(
                    f"the development tree would have two different files {entry.path}: {entry.source}"
                )
    for directory, package in runtime.items():
        for path in package.files:
            if path not in entries and not path.endswith("/__init__.py"):
                entries[path] = _runtime_link(path, directory)
    for path in directories_of(entries):
        entries.setdefault(path, DevelEntry(path, "directory"))
    tree = sorted(entries.values(), key=lambda entry: (rank(entry.kind, entry.link, runtime), entry.path))
    return [_relocated(entry, rules) for entry in tree]


def _entry_for(entry: Entry, runtime: Mapping[str, Package]) -> DevelEntry:
    path = entry.path
    if entry.kind == "directory":
        return DevelEntry(path, "directory")
    for package in runtime.values():
        if path in package.aliases:
            return DevelEntry(path, "link", package.aliases[path])
    for directory, package in runtime.items():
        if path in package.files:
            return _runtime_link(path, directory)
    if entry.kind == "link":
        return DevelEntry(path, "link", entry.link)
    return DevelEntry(path, "file", source=entry.source)


def _runtime_link(path: str, directory: str) -> DevelEntry:
    up = PurePosixPath("/".join([".."] * len(PurePosixPath(path).parts)))
    return DevelEntry(path, "link", str(up / directory / path))


def _is_same(one: DevelEntry, other: DevelEntry) -> bool:
    return one.source is not None and other.source is not None and is_same_file(one.source, other.source)


def _relocated(entry: DevelEntry, rules: Rules) -> DevelEntry:
    """Return an entry with the text that the rules have for the tree; the log names the paths that stay."""
    if entry.source is None or not entry.path.endswith(".pc"):
        return entry
    data = read_beginning(str(entry.source), _LIMIT)
    text = (rewritten(rules.prefix, entry.path, False, data, "tree") or data) if len(data) < _LIMIT else b""
    for path in dict.fromkeys(_OF_BUILD.findall(text)):
        _log.warning("%s names a directory of another machine: %s", entry.path, path.decode(errors="replace"))
    return entry._replace(text=text) if text else entry
