"""Reads the archive of a development tree: `.tar`, `.tar.xz` or `.tar.zst`, once, from its beginning to its end.

tarfile parses the headers; what the members may be is said in `archive_rules`. tarfile itself takes a damaged header
for the end of the archive, so the end is looked for here.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import sys
import tarfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

from rocm_sdk.errors import BadArchiveError, DevelopmentTreeError

from .archive_rules import ArchiveRules, Member
from .record import Digest

# No honest header (a long name, a pax header) is longer; tarfile reads one into memory whole.
_LONGEST_HEADER = 1 << 20
_BUFFER = 1 << 20
_HINT = "get it again: pip install --force-reinstall --no-cache-dir --no-deps rocm-sdk-devel"


class Archive:
    """An archive that is being read. Iterate over `members()`, and `read` the data of each file before the next one."""

    def __init__(self, path: str, digest: Digest | None = None) -> None:
        """digest: what RECORD says of the file, if anything; the end of the archive is reached only if it has it."""
        self.path = path
        self._digest = digest
        self._file = _HashedFile(path, digest)
        self._stream, self._damage = _open_stream(path, self._file)
        self._position = 0
        self._rules = ArchiveRules(path)
        self._headers: tarfile.TarFile | None = None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def tree_name(self) -> str:
        """The directory that all members lie in; known once the first member is."""
        return self._rules.tree_name

    @property
    def bytes_read(self) -> int:
        """How far the file has been read, in bytes."""
        return self._file.tell()

    def members(self) -> Iterator[Member]:
        """The members, each directory before what is in it, also those that the archive does not name.

        Raises BadArchiveError for what such an archive must not hold, and for damaged data.
        """
        while (header := self._next_header()) is not None:
            data_end = self._position + (header.size if header.isreg() else 0)
            yield from self._rules.admit(header)
            if self._position < data_end:
                raise AssertionError(f"data of {header.name} was not read")
            self._read_exactly(-data_end % tarfile.BLOCKSIZE, header.name)
        self._rules.finish()
        self._read_to_end()

    def _next_header(self) -> tarfile.TarInfo | None:
        """None at the end of the archive, which is a block of zeros."""
        try:
            if self._headers is None:
                self._headers = tarfile.TarFile(fileobj=_HeaderSource(self))  # type: ignore[arg-type]
                return self._headers.firstmember  # type: ignore[attr-defined, no-any-return]
            return tarfile.TarInfo.fromtarfile(self._headers)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            return None
        except (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError) as error:
            if isinstance(error, BadArchiveError):
                raise
            raise self._damaged(f"no valid header at byte {self._position}: {error}") from error

    def read(self, size: int, name: str) -> bytes:
        """The next `size` bytes of the data of member `name`."""
        return self._read_exactly(size, name)

    def _read_exactly(self, size: int, name: str) -> bytes:
        data = self.read_some(size)
        while len(data) < size:
            more = self.read_some(size - len(data))
            if not more:
                raise self._damaged(f"it ends within {name}")
            data += more
        return data

    def _read_to_end(self) -> None:
        """Reads the blocks of zeros after the last member; the checksum of the compressed data comes after them."""
        while block := self.read_some(_BUFFER):
            if block.strip(b"\0"):
                raise self._damaged("something follows its end")
        if self._digest is not None and self._file.digest() != self._digest.value:
            raise self._damaged(f"its {self._digest.algorithm} digest is not the one that RECORD gives")

    def read_some(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end."""
        try:
            data = self._stream.read(size)
        except self._damage as error:
            raise self._damaged(str(error)) from error
        except OSError as error:
            raise DevelopmentTreeError(f"cannot read {self.path}: {error.strerror}", None, self.path) from error
        self._position += len(data)
        return data

    def tell(self) -> int:
        """Bytes read of the uncompressed archive."""
        return self._position

    def _damaged(self, what: str) -> BadArchiveError:
        return BadArchiveError(f"{self.path} is damaged: {what}", _HINT, self.path)


class _HashedFile(io.FileIO):
    """A file that is read once, from its beginning to its end, and hashed meanwhile."""

    def __init__(self, path: str, digest: Digest | None) -> None:
        super().__init__(path)
        self._hash = hashlib.new(digest.algorithm) if digest else None

    def readinto(self, buffer: Any, /) -> int:
        count = super().readinto(buffer) or 0
        if self._hash is not None:
            self._hash.update(memoryview(buffer)[:count])
        return count

    def digest(self) -> bytes:
        assert self._hash is not None
        return self._hash.digest()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _HeaderSource:
    """The file that tarfile sees: enough of one to read headers, and none too long."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.tell = archive.tell
        self.mode = "rb"
        self.name = archive.path

    def read(self, size: int) -> bytes:
        if size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return self._archive.read_some(size)


def _open_stream(path: str, raw: io.FileIO) -> tuple[_Readable, tuple[type[Exception], ...]]:
    """The uncompressed data, and the exceptions by which its reader says that they are damaged."""
    file = io.BufferedReader(raw, _BUFFER)
    if path.endswith(".xz"):
        return lzma.open(file), (lzma.LZMAError, EOFError)
    if path.endswith(".zst"):
        zstd = _import_zstd(path)
        return zstd.open(file), (zstd.ZstdError, EOFError)
    return file, ()


def _import_zstd(path: str) -> Any:
    """The module of PEP 784: in Python from 3.14 on, before that a package."""
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ModuleNotFoundError as error:
        raise DevelopmentTreeError(
            f"{path} is compressed with Zstandard, which this Python cannot read ({error})",
            "pip install backports.zstd",
            path,
        ) from error
