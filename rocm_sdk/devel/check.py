"""Holds a tree against its manifest."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from .archive_rules import DIRECTORY, LINK, RUNTIME
from .device_links import read_device_links
from .manifest import Entry, read_manifest
from .placement import Placement

_CHUNK = 1 << 20


class Finding(NamedTuple):
    """One thing that is wrong with a tree.

    path: below the tree. problem: what is wrong with it, half a sentence. needs: what mends it: "relink" (rocm-sdk
    init), "runtime" (a package of the SDK that is not installed) or "reinstall" (of rocm-sdk-devel).
    """

    path: str
    problem: str
    needs: str


def verify_tree(tree: str) -> list[Finding]:
    """Everything about the tree that is not as its manifest says; [] where all is well. Reads every file.

    A tree without a manifest was made by another program; one finding says so. Raises BadMetadataError where the
    manifest is damaged. Nothing is changed.
    """
    manifest = read_manifest(tree)
    if manifest is None:
        return [Finding("", "has no manifest: another program expanded it", "reinstall")]
    placement = Placement(os.path.dirname(tree), None)
    links = [Entry(path, RUNTIME, target=text) for path, text in read_device_links(tree).items()]
    found = (_verify(tree, entry, placement) for entry in (*manifest.entries, *links))
    return [finding for finding in found if finding is not None]


def _verify(tree: str, entry: Entry, placement: Placement) -> Finding | None:
    path = f"{tree}/{entry.path}"
    if entry.kind == RUNTIME:
        if placement.is_current(entry.path, entry.target, path):
            return None
        if os.path.exists(placement.source(entry.path, entry.target)):
            return Finding(entry.path, f"is not the file that {entry.target} is now", "relink")
        return Finding(entry.path, f"belongs to a package that is not installed ({entry.target})", "runtime")
    try:
        facts = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return Finding(entry.path, "is missing", "reinstall")
    except NotADirectoryError:
        return Finding(entry.path, "is missing: a file is in place of its directory", "reinstall")
    if entry.kind == LINK:
        is_same = stat.S_ISLNK(facts.st_mode) and os.readlink(path) == entry.target
        return None if is_same else Finding(entry.path, f"is not the link to {entry.target} any longer", "reinstall")
    wanted = stat.S_ISDIR if entry.kind == DIRECTORY else stat.S_ISREG
    if not wanted(facts.st_mode):
        return Finding(entry.path, f"is no longer a {entry.kind}", "reinstall")
    if stat.S_IMODE(facts.st_mode) != entry.mode:
        return Finding(entry.path, f"has mode {stat.S_IMODE(facts.st_mode):o} instead of {entry.mode:o}", "reinstall")
    if entry.kind != DIRECTORY and (facts.st_size != entry.size or _checksum(path, entry.checksum) != entry.checksum):
        return Finding(entry.path, "has another content", "reinstall")
    return None


class _Checksum(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class _Crc32:
    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes, /) -> None:
        self._value = zlib.crc32(data, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


def _checksum(path: str, like: str) -> str:
    """The checksum of a file, of the kind of `like`."""
    kind = like.partition(":")[0]
    checksum: _Checksum = _Crc32() if kind == "crc32" else hashlib.sha256()
    with open(path, "rb") as file:
        for data in _pieces(file.fileno()):
            checksum.update(data)
    return f"{kind}:{checksum.hexdigest()}"


def _pieces(descriptor: int) -> Iterator[bytes]:
    while data := os.read(descriptor, _CHUNK):
        yield data
