"""The store: a directory that keeps the files of development trees once per machine, for all environments.

    files/ab/abcdef...      a file, named by the SHA-256 of its content; `...x` if it is executable; read-only
    trees/sha256-....json   the entries of an archive, named by the archive's digest: with this list the next extraction
                            does not read the archive
    lock                    held shared while a tree is made from the store, exclusively while the store is pruned

Trees contain hard links to the files, so the link count of a file says how many trees use it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rocm_sdk.errors import DevelopmentTreeError
from rocm_sdk.installed.files import chunks_of

from .archive_rules import FILE, Member
from .link_file import link_or_copy
from .lock import exclusive
from .manifest import Entry
from .record import Digest
from .replace import sync_file_system

# The data of a member of an archive, in chunks
ReadData = Callable[[Member], Iterator[bytes]]

_PARTIAL = ".partial-"


class Pruned(NamedTuple):
    """What `Store.prune` removed: files, their bytes, and lists of trees."""

    files: int
    size: int
    trees: int


class Store:
    """The store in `directory`, which is created if needed. Raises DevelopmentTreeError if that fails."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.abspath(os.path.expanduser(directory))
        self.methods: set[str] = set()
        try:
            for name in ("files", "trees"):
                os.makedirs(f"{self.directory}/{name}", exist_ok=True)
        except OSError as error:
            raise DevelopmentTreeError(
                f"cannot create the store {self.directory}: {error.strerror}",
                "set --store or ROCM_SDK_STORE to a directory that you may write to",
                self.directory,
            ) from error

    @contextmanager
    def in_use(self, timeout: float, say: Callable[[str], None]) -> Iterator[None]:
        """Prevents pruning while a tree is made from the store."""
        with exclusive(f"{self.directory}/lock", timeout, say, shared=True):
            yield

    def add(self, member: Member, path: str, read: ReadData) -> Entry:
        """Adds a file with data from `read`, and links it to `path`."""
        descriptor, partial = tempfile.mkstemp(prefix=_PARTIAL, dir=self.directory)
        try:
            digest = hashlib.sha256()
            with open(descriptor, "wb") as file:
                for data in read(member):
                    digest.update(data)
                    file.write(data)
                file.flush()
                os.utime(descriptor, (member.mtime, member.mtime))
                mode = 0o555 if member.is_program else 0o444
                os.fchmod(descriptor, mode)
            entry = Entry(member.path, FILE, mode, member.size, f"sha256:{digest.hexdigest()}")
            kept = self._file(entry)
            if not _is_complete(kept, entry):
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                os.rename(partial, kept)
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
        return self._link(entry, path)

    def link(self, entry: Entry, path: str) -> None:
        """Links a file of the store to `path`. Raises FileNotFoundError if it is missing or incomplete."""
        kept = self._file(entry)
        if not _is_complete(kept, entry):
            raise FileNotFoundError(kept)
        self._link(entry, path)

    def _link(self, entry: Entry, path: str) -> Entry:
        self.methods.add(link_or_copy(self._file(entry), path))
        # A copy has a mode of its own.
        return entry._replace(mode=stat.S_IMODE(os.stat(path).st_mode))

    def remember(self, archive: Digest, tree_name: str, entries: list[Entry]) -> None:
        """Saves the entries of the archive with this digest."""
        sync_file_system(self.directory)
        descriptor, partial = tempfile.mkstemp(prefix=_PARTIAL, dir=self.directory)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"tree": tree_name, "entries": entries}, file, separators=(",", ":"))
        os.rename(partial, self._list_of(archive))

    def recall(self, archive: Digest) -> tuple[str, list[Entry]] | None:
        """The tree's name and entries; None for an archive that was not saved."""
        try:
            return _read_list(self._list_of(archive))
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def prune(self, timeout: float, say: Callable[[str], None]) -> Pruned:
        """Removes the files that no tree links to, and the lists of archives that had them."""
        with exclusive(f"{self.directory}/lock", timeout, say):
            files = size = 0
            for path in self._files():
                facts = os.stat(path)
                if facts.st_nlink == 1:
                    os.unlink(path)
                    files, size = files + 1, size + facts.st_size
            for name in os.listdir(self.directory):
                if name.startswith(_PARTIAL):
                    os.unlink(f"{self.directory}/{name}")
            return Pruned(files, size, self._remove_incomplete_lists())

    def verify(self) -> list[str]:
        """Reads every file; returns the paths of those whose content does not match their name."""
        return [path for path in self._files() if _digest(path) != os.path.basename(path).rstrip("x")]

    def _file(self, entry: Entry) -> str:
        digest = entry.checksum.partition(":")[2]
        return f"{self.directory}/files/{digest[:2]}/{digest}{'x' if entry.mode & 0o100 else ''}"

    def _files(self) -> Iterator[str]:
        for parent, _, names in os.walk(f"{self.directory}/files"):
            yield from (f"{parent}/{name}" for name in names)

    def _remove_incomplete_lists(self) -> int:
        removed = 0
        for name in os.listdir(f"{self.directory}/trees"):
            path = f"{self.directory}/trees/{name}"
            try:
                entries = _read_list(path)[1]
                is_complete = all(_is_complete(self._file(entry), entry) for entry in entries if entry.kind == FILE)
            except (ValueError, TypeError, KeyError):
                is_complete = False
            if not is_complete:
                os.unlink(path)
                removed += 1
        return removed

    def _list_of(self, archive: Digest) -> str:
        return f"{self.directory}/trees/{archive.algorithm}-{archive.value.hex()}.json"


def _read_list(path: str) -> tuple[str, list[Entry]]:
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    return content["tree"], [Entry(*entry) for entry in content["entries"]]


def _is_complete(path: str, entry: Entry) -> bool:
    try:
        return os.stat(path).st_size == entry.size
    except FileNotFoundError:
        return False


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for data in chunks_of(file):
            digest.update(data)
    return digest.hexdigest()
