"""The part of a wheel that a check reads, written to a directory: its ELF files, GPU code and tables of kernels.

Databases of kernels are written without content: their names say what they are for.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import AbstractContextManager
from email.parser import Parser
from typing import IO, NamedTuple

from rocm_sdk._native import begins_as_elf
from rocm_sdk.base.value_text import size_text
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.archive_errors import damage, of_reading, refusal, unread
from rocm_sdk.fit.code.candidate import CODE_ENDINGS
from rocm_sdk.fit.code.zip_file import DAMAGE, Swelling, open_zip
from rocm_sdk.fit.image_kinds import DIRECTORY
from rocm_sdk.installed.directory_walk import DEPTH_LIMIT
from rocm_sdk.terminal.progress import Wait, waiting

from .requirements import requirements

_ELF = b"\x7fELF"
_ENDINGS = (".dat", ".dat.zlib", ".co", ".hsaco", ".kpack")
_DATABASES = (".db", ".kdb", ".fdb.txt", ".db.txt")
_RATIO = 1032  # deflate cannot do better
_HEADERS = 1 << 20  # bytes of METADATA that are read
_HEAD = 64
_BUFFER = 1 << 20
_MOST_LIBRARIES = 2048  # each takes 90 kB of memory
_MOST_PLACES, _DIRECTORY = 32_768, 8  # files; a directory, and each one above it, counts as this many
_BROKEN_LIMIT = 64  # libraries that are not ELF files by their first bytes, but written: others may need them


class Unpacked(NamedTuple):
    """The paths of the shared libraries and programs, and the names of the distributions that the wheel requires.

    broken: how many further files are named like libraries but are none. Some of `files` are, too; they show the fault.
    for_windows: the name of a library for Windows; "" without one.
    """

    files: tuple[str, ...]
    needed: tuple[str, ...]
    broken: int
    for_windows: str


def unpacked(path: str, root: str) -> Unpacked:
    """Write the files below `root`.

    Raises BadArchiveError for a wheel that is not what it claims to be, LibraryAccessError if there is no room.
    """
    needed: tuple[str, ...] = ()
    with open(path, "rb") as file, open_zip(path, file) as archive, _reading(path, archive) as wait:
        writer = _Writer(archive, path, root, wait)
        for member in archive.infolist():
            name = f"{path}/{member.filename}"
            try:
                if member.filename.endswith(".dist-info/METADATA"):
                    headers = Parser().parsestr(
                        archive.open(member).read(_HEADERS).decode(errors="replace"), headersonly=True
                    )
                    needed = requirements([str(value) for value in headers.get_all("Requires-Dist") or []])
                elif not member.filename.endswith("/"):
                    writer.take(member, name)
            except (FileExistsError, NotADirectoryError) as error:
                raise damage(name, "another member is in its place") from error
            except (RocmSdkError, *DAMAGE, OSError) as error:
                raise of_reading(name, error, "it cannot be read from the archive", tempfile.gettempdir()) from error
    names = (member.filename.rpartition("/")[2] for member in archive.infolist())
    for_windows = next(filter(is_for_windows, names), "")
    return Unpacked(tuple(sorted(writer.files)), needed, writer.left_broken, for_windows)


def is_for_windows(name: str) -> bool:
    """Return whether a file is a library for Windows, by its name, which will be shown."""
    return name.endswith((".dll", ".pyd")) and name.isprintable()


def _reading(path: str, archive: zipfile.ZipFile) -> AbstractContextManager[Wait]:
    """Return the wait for the reading: each byte of a member is a step, whether it is written or skipped."""
    total = sum(member.file_size for member in archive.infolist())
    return waiting(f"reading {os.path.basename(path).partition('-')[0]}", total, size_text)


class _Writer:
    """The writer of members that are read, which looks only at the first bytes of the others."""

    def __init__(self, archive: zipfile.ZipFile, path: str, root: str, wait: Wait) -> None:
        self._archive, self._path, self._root, self._wait = archive, path, root, wait
        self._made = {root}
        room = os.statvfs(root)
        self._room = room.f_bavail * room.f_frsize
        self._swelling = Swelling(path)
        self._places = 0
        self.files: list[str] = []
        self.left_broken = self._broken = 0

    def take(self, member: zipfile.ZipInfo, name: str) -> None:
        """Write a member if it is read."""
        parts = member.filename.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise damage(name, "its name leads out of the wheel")
        if len(parts) > DEPTH_LIMIT:
            raise damage(f"{name[:200]}...", f"it lies in more than {DEPTH_LIMIT} directories")
        if member.file_size > member.compress_size * _RATIO + _HEAD:
            raise damage(
                name, f"it claims {member.file_size} bytes, which {member.compress_size} compressed ones cannot hold"
            )
        with self._archive.open(member) as stream:
            head = stream.read(_HEAD)
            self._wait.step(parts[-1], len(head))
            if DIRECTORY in parts[:-1]:  # the names of the kinds of GPU say enough
                self._make_directory(parts[: min(parts.index(DIRECTORY) + 2, len(parts) - 1)])
            elif parts[-1].endswith(_DATABASES):
                self._write(parts)
            elif parts[-1].endswith(_ENDINGS):
                self._swelling.count(member, name)
                self._write(parts, head, stream, member.file_size)
            elif head.startswith(_ELF) and not parts[-1].endswith(CODE_ENDINGS) and not self._is_left(head):
                self._swelling.count(member, name)
                self.files.append(self._write(parts, head, stream, member.file_size))
                if len(self.files) > _MOST_LIBRARIES:
                    raise unread(self._path, f"it has more than {_MOST_LIBRARIES:,} libraries and programs")
            self._wait.step(amount=member.file_size - stream.tell())

    def _is_left(self, head: bytes) -> bool:
        """Return whether a library is only counted: by its first bytes it is none, like many others."""
        if begins_as_elf(head):
            return False
        self._broken += 1
        is_left = self._broken > _BROKEN_LIMIT
        self.left_broken += is_left
        return is_left

    def _write(self, parts: list[str], head: bytes = b"", stream: IO[bytes] | None = None, size: int = 0) -> str:
        """Write a member, and return its path. The zip reader stops at the size that the wheel's list says."""
        if size > self._room:
            place = tempfile.gettempdir()
            why = f"the members that are read take more bytes than {place} has; TMPDIR names another place"
            raise refusal(self._path, why)
        self._room -= size
        self._count_places(1)
        self._make_directory(parts[:-1])
        target = os.path.join(self._root, *parts)
        with open(target, "xb") as file:
            file.write(head)
            while stream is not None and (data := stream.read(_BUFFER)):
                file.write(data)
                self._wait.step(parts[-1], len(data))
        return target

    def _make_directory(self, parts: list[str]) -> None:
        directory = os.path.join(self._root, *parts)
        if directory not in self._made:
            self._count_places(_DIRECTORY * len(parts))
            os.makedirs(directory, exist_ok=True)
            self._made.add(directory)

    def _count_places(self, number: int) -> None:
        self._places += number
        if self._places > _MOST_PLACES:
            raise unread(self._path, f"what is read of it takes as long as more than {_MOST_PLACES:,} files")
