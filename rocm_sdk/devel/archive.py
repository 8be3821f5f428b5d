"""The reader of the archive of a development tree (`.tar`, `.tar.xz`, `.tar.zst`): once, from beginning to end.

tarfile parses the headers (`tar_header` the headers of plain files), and `archive_rules` says what the members may be.
tarfile itself takes a damaged header for the end of the archive, so this module looks for the end.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

from rocm_sdk.base.zstd import ZSTD_FIX, ZSTD_MODULE
from rocm_sdk.errors import BadArchiveError, DevelopmentTreeError
from rocm_sdk.problems.problem import reinstall_fix

from .archive_rules import ArchiveRules, Member
from .layout import DISTRIBUTION
from .tree_record import Digest

# The headers of a member (long names, pax headers) are not longer in all; tarfile keeps all of them in memory.
_LONGEST_HEADERS = 1 << 20
_LONGEST_END = 1 << 24  # bytes of zeros
_BUFFER = 1 << 20

_LARGEST = (1 << 63) - 1  # bytes of a file


class Archive:
    """An archive that is being read. Iterate over `members()`, and read `data_of` each file before the next one."""

    def __init__(self, path: str, digest: Digest | None = None) -> None:
        """Open the archive.

        digest: the digest in RECORD, if any. The end of the archive is reached only if the file has this digest.
        """
        self.path = path
        self._digest = digest
        self._file = _HashedFile(path, digest)
        self._stream, self._damage = _open_stream(path, self._file)
        self._position = 0
        self._rules = ArchiveRules(path)
        self._source = _HeaderSource(self)
        self._headers: tarfile.TarFile | None = None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def tree_name(self) -> str:
        """The directory that holds all members; known after the first member."""
        return self._rules.tree_name

    @property
    def bytes_read(self) -> int:
        """The number of bytes of the file that have been read."""
        return self._file.tell()

    def members(self) -> Iterator[Member]:
        """Yield the members. Each directory comes before its content, even if the archive does not name it.

        Raises BadArchiveError for a member that such an archive must not contain, and for damaged data.
        """
        while (header := self._next_header()) is not None:
            data_end = self._position + (header.size if header.isreg() else 0)
            yield from self._rules.admit(header)
            if self._position < data_end:
                raise AssertionError(f"data of {header.name} was not read")
            self._read_exactly(-data_end % tarfile.BLOCKSIZE, header.name)
        self._rules.finish()
        # The checksum of the compressed data follows the blocks of zeros after the last member.
        last = self._position + _LONGEST_END
        while block := self.read_some(_BUFFER):
            if self._position > last:
                raise self._damaged(f"more than {_LONGEST_END >> 20} MB are behind its last member")
            if block.strip(b"\0"):
                raise self._damaged("there is data after its end")
        if self._digest is not None and self._file.digest() != self._digest.value:
            raise self._damaged(f"its {self._digest.algorithm} digest is not the one in RECORD")

    def headers(self) -> Iterator[tarfile.TarInfo]:
        """Yield only the headers, whatever they say. Raise BadArchiveError for damaged data.

        If the archive is not compressed, the data between the headers is not read.
        """
        while (header := self._next_header()) is not None:
            yield header
            self._skip(-(-header.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE if header.isreg() else 0, header.name)

    def _skip(self, size: int, name: str) -> None:
        if isinstance(self._stream, io.BufferedReader):
            self._stream.seek(size, os.SEEK_CUR)
            self._position += size
            return
        while size:
            size -= len(self._read_exactly(min(size, _BUFFER), name))

    def _next_header(self) -> tarfile.TarInfo | None:
        """Return the next header; None at the end of the archive, which is a block of zeros."""
        try:
            if self._headers is None:
                self._headers = tarfile.TarFile(fileobj=self._source, tarinfo=Header)  # type: ignore[arg-type]
                header = self._headers.firstmember  # type: ignore[attr-defined]
            else:
                self._source.begin()
                header = Header.fromtarfile(self._headers)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            return None
        except (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError) as error:
            if isinstance(error, BadArchiveError):
                raise
            raise self._damaged(f"no valid header at byte {self._position}: {error}") from error
        if header is not None and not 0 <= header.size <= _LARGEST:
            raise self._damaged(f"{header.name} would have {header.size} bytes")
        return header  # type: ignore[no-any-return]

    def data_of(self, member: Member) -> Iterator[bytes]:
        """Yield the data of the last member, in chunks."""
        left = member.size
        while left:
            data = self._read_exactly(min(left, _BUFFER), member.path)
            left -= len(data)
            yield data

    def _read_exactly(self, size: int, name: str) -> bytes:
        data = self.read_some(size)
        while len(data) < size:
            more = self.read_some(size - len(data))
            if not more:
                raise self._damaged(f"it ends within {name}")
            data += more
        return data

    def read_some(self, size: int) -> bytes:
        """Return at most `size` bytes; b"" at the end."""
        try:
            data = self._stream.read(size)
        except self._damage as error:
            raise self._damaged(str(error)) from error
        except OSError as error:
            raise DevelopmentTreeError(f"cannot read {self.path}: {error.strerror}", None, self.path) from error
        self._position += len(data)
        return data

    def tell(self) -> int:
        """Return how many bytes of the uncompressed archive have been read."""
        return self._position

    def _damaged(self, what: str) -> BadArchiveError:
        fix = reinstall_fix(DISTRIBUTION, os.path.dirname(os.path.dirname(self.path)))
        return BadArchiveError(f"{self.path} is damaged: {what}", fix, self.path)


class _HashedFile(io.FileIO):
    """A file that is hashed while it is read once, from its beginning to its end."""

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
    """The file object that tarfile sees, which reads the headers of one member, and refuses headers that are too long.

    Some releases of tarfile read a long header in pieces.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.tell = archive.tell
        self.mode = "rb"
        self.name = archive.path
        self.begin()

    def begin(self) -> None:
        """Count the bytes that are read from now until the next member."""
        self._end = self.tell() + _LONGEST_HEADERS

    def read(self, size: int) -> bytes:
        if size < 0:
            raise tarfile.ReadError("its size is negative")
        if self.tell() + size > self._end:
            raise tarfile.ReadError(f"a header of more than {_LONGEST_HEADERS} bytes")
        return self._archive.read_some(size)


def _open_stream(path: str, raw: io.FileIO) -> tuple[_Readable, tuple[type[Exception], ...]]:
    """Return the uncompressed data, and the exceptions that its reader raises for damaged data."""
    file = io.BufferedReader(raw, _BUFFER)
    if path.endswith(".xz"):
        lzma = _import_reader("lzma", path, "xz", "use a Python that was built with liblzma (Debian: liblzma-dev)")
        return lzma.open(file), (lzma.LZMAError, EOFError)
    if path.endswith(".zst"):
        zstd = _import_reader(ZSTD_MODULE, path, "Zstandard", ZSTD_FIX)
        return zstd.open(file), (zstd.ZstdError, EOFError)
    return file, ()


def _import_reader(name: str, path: str, form: str, fix: str) -> Any:
    """Import the module for a form of compression, and return it.

    The import waits until an archive needs the module: not every Python has it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise DevelopmentTreeError(
            f"{path} is compressed with {form}, which this Python cannot read ({error})", fix, path
        ) from error


# mode, uid, gid, size, mtime and checksum in octal digits, the type of a file, and no name of a link.
_NUMBERS = re.compile(rb"([0-7]{7})\0[0-7]{7}\0[0-7]{7}\0([0-7]{11})\0([0-7]{11})\0([0-7]{6})\0 0\0")
_NUL = b"\0"
_NO_DEVICE = (b"0000000\0" * 2, b"\0" * 16)


class Header(tarfile.TarInfo):
    """A header. The owner of a file, and its place in the archive, are not kept."""

    _is_plain = False

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Header:
        """Read a header as tarfile.TarInfo.frombuf does."""
        numbers = _NUMBERS.match(buf, 100) if len(buf) == tarfile.BLOCKSIZE else None
        if numbers is None or buf[329:345] not in _NO_DEVICE:
            return super().frombuf(buf, encoding, errors)
        mode, size, mtime, checksum = numbers.groups()
        header = cls()
        header.mode, header.size, header.mtime, header.chksum = (
            int(mode, 8),
            int(size, 8),
            int(mtime, 8),
            int(checksum, 8),
        )
        # The sum is that of a header with blanks in this field, whose last two bytes are NUL and a blank.
        if sum(buf) - sum(checksum) + 7 * 0x20 != header.chksum:
            return super().frombuf(buf, encoding, errors)
        header.name = buf[:100].partition(_NUL)[0].decode(encoding, errors)
        if buf[345]:
            header.name = f"{buf[345:500].partition(_NUL)[0].decode(encoding, errors)}/{header.name}"
        header._is_plain = True
        return header

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Return the header's member. Nothing else belongs to the member, unless all members share something."""
        if self._is_plain and not archive.pax_headers:
            return self
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return member
