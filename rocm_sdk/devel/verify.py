"""Verifies a tree against its manifest."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from typing import Literal, Protocol

from rocm_sdk.installed.distributions import sdk_distributions
from rocm_sdk.installed.files import chunks_of
from rocm_sdk.problems import Problem, problem

from .archive_rules import DIRECTORY, LINK, RUNTIME
from .device_links import read_device_links
from .layout import DISTRIBUTION
from .link_file import FileLinker
from .manifest import Entry, read_manifest

Need = Literal["update", "install", "reinstall"]  # what has to be done


def verify_tree(tree: str) -> list[Problem]:
    """Everything in the tree that is not as its manifest says; [] if all is well. Reads every file, changes nothing.

    A tree without a manifest was made by another program: one problem says so. Raises BadMetadataError if the manifest
    is damaged.
    """
    site = os.path.dirname(tree)
    manifest = read_manifest(tree)
    if manifest is None:
        return [difference(tree, "has no manifest: another program extracted it", "reinstall")]
    linker = FileLinker(site, None)
    version = _requirement_version(site)
    links = [
        Entry(path, RUNTIME, target=text) for path, text in read_device_links(tree, os.path.basename(tree)).items()
    ]
    found = ((entry, _fault(tree, entry, linker)) for entry in (*manifest.entries, *links))
    return [difference(f"{tree}/{entry.path}", *fault, version) for entry, fault in found if fault is not None]


def difference(path: str, detail: str, need: Need, version: str = "") -> Problem:
    """The problem that the file `path` differs. version: "==7.10.0", "" if it is unknown."""
    facts = {
        "update": {"update": "rocm-sdk init"},
        "install": {"requirement": f"rocm[libraries]{version}", "leads": "where the link leads"},
        "reinstall": {"distribution": DISTRIBUTION, "requirement": f"{DISTRIBUTION}{version}"},
    }[need]
    return problem("E-DEVEL-002", path, detail=detail, **facts)


def _requirement_version(site: str) -> str:
    versions = (found.version for found in sdk_distributions(site) if found.name == DISTRIBUTION)
    return next((f"=={version}" for version in versions), "")


def _fault(tree: str, entry: Entry, linker: FileLinker) -> tuple[str, Need] | None:
    """What is wrong with an entry, half a sentence, and what has to be done; None: nothing."""
    try:
        return _verify(tree, entry, linker)
    except OSError as error:
        return f"cannot be read: {error.strerror}", "reinstall"


def _verify(tree: str, entry: Entry, linker: FileLinker) -> tuple[str, Need] | None:
    path = f"{tree}/{entry.path}"
    if entry.kind == RUNTIME:
        if linker.is_current(entry.path, entry.target, path):
            return None
        if os.path.exists(linker.source(entry.path, entry.target)):
            return f"is not the file that {entry.target} is now", "update"
        return f"belongs to a package that is not installed ({entry.target})", "install"
    try:
        facts = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return "is missing", "reinstall"
    except NotADirectoryError:
        return "is missing: a file is in place of its directory", "reinstall"
    if entry.kind == LINK:
        is_same = stat.S_ISLNK(facts.st_mode) and os.readlink(path) == entry.target
        return None if is_same else (f"is not the link to {entry.target} any longer", "reinstall")
    wanted = stat.S_ISDIR if entry.kind == DIRECTORY else stat.S_ISREG
    if not wanted(facts.st_mode):
        return f"is no longer a {entry.kind}", "reinstall"
    if stat.S_IMODE(facts.st_mode) != entry.mode:
        return f"has mode {stat.S_IMODE(facts.st_mode):o} instead of {entry.mode:o}", "reinstall"
    if entry.kind != DIRECTORY and (facts.st_size != entry.size or _checksum(path, entry.checksum) != entry.checksum):
        return "has another content", "reinstall"
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
    """The checksum of a file, of the same kind as `like`."""
    kind = like.partition(":")[0]
    checksum: _Checksum = _Crc32() if kind == "crc32" else hashlib.sha256()
    with open(path, "rb") as file:
        for data in chunks_of(file):
            checksum.update(data)
    return f"{kind}:{checksum.hexdigest()}"
