"""The writer of the members of an archive into a new directory, which records the entries."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress

from .archive_rules import DIRECTORY, FILE, HARD_LINK, LINK, Member
from .link_file import FileLinker
from .manifest import Entry
from .store import ReadData, Store

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeWriter:
    """The writer of one tree into the new directory `tree`.

    linker: links the files of the runtime packages; links into a package that is not installed are not created. store:
    keeps the regular files; None, or one that cannot be written: the tree has files of its own. entries: the entries
    that were written.
    """

    def __init__(self, tree: str, linker: FileLinker, store: Store | None) -> None:
        self.entries: list[Entry] = []
        self._tree = tree
        self._linker = linker
        self._store = store
        self._files: dict[str, Entry] = {}
        os.mkdir(tree)

    def write(self, member: Member, read: ReadData) -> None:
        """Write a member; `read` yields the data of a file."""
        path = f"{self._tree}/{member.path}"
        if member.kind == FILE:
            entry = self._files[member.path] = self._write_file(member, path, read)
        elif member.kind == DIRECTORY:
            os.mkdir(path)
            entry = Entry(member.path, DIRECTORY, stat.S_IMODE(os.stat(path).st_mode))
        elif member.kind == HARD_LINK:
            os.link(f"{self._tree}/{member.target}", path)
            entry = self._files[member.target]._replace(path=member.path)
        else:
            entry = Entry(member.path, member.kind, target=member.target)
            self._write_link(entry, path)
        self.entries.append(entry)

    def link(self, member: Member, digest: str) -> None:
        """Link a file of the store. Raise FileNotFoundError if the store lacks it."""
        assert self._store is not None
        self.entries.append(self._store.link(member, digest, f"{self._tree}/{member.path}"))

    def _write_link(self, entry: Entry, path: str) -> None:
        if entry.kind == LINK:
            os.symlink(entry.target, path)
            return
        with suppress(FileNotFoundError):
            self._linker.link(entry.path, entry.target, path)

    def _write_file(self, member: Member, path: str, read: ReadData) -> Entry:
        if self._store is not None and self._store.is_writable:
            return self._store.add(member, path, read)
        checksum = 0
        descriptor = os.open(path, _NEW_FILE, 0o777 if member.is_program else 0o666)
        try:
            for data in read(member):
                checksum = zlib.crc32(data, checksum)
                write_all(descriptor, data)
            os.utime(descriptor, (member.mtime, member.mtime))
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)
        return Entry(member.path, FILE, mode, member.size, f"crc32:{checksum:08x}")


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; a full disk causes a short write first."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
