"""A reader of tar headers on top of tarfile, which takes a damaged header for the end, and reads any amount at once."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import IO, Any

# docs/limits.md has these limits and their reasons.
HEADERS_LIMIT, END_LIMIT = 1 << 20, 1 << 24  # bytes


class TarReader:
    """The members of an archive; none of them is kept.

    Methods raise TarError, and the errors of reading the file.
    """

    def __init__(self, file: IO[bytes], *, is_stream: bool) -> None:
        """Open the archive.

        is_stream: whether the file is read once, from its beginning to its end, as decompressed data is.
        """
        self._source = source = _Source(file)
        options: Any = {"fileobj": source, "mode": "r|" if is_stream else "r:", "tarinfo": _Header}
        self.archive: tarfile.TarFile = tarfile.open(**options)  # noqa: SIM115 - the file is the caller's

    def members(self) -> Iterator[tarfile.TarInfo]:
        """Yield the members, in the order of the archive."""
        while (member := self.archive.next()) is not None:
            self.archive.members = []  # type: ignore[attr-defined]  # no longer needed, and perhaps many
            self._source.end = self.archive.offset + HEADERS_LIMIT
            yield member

    def read_to_end(self) -> None:
        """Read the zeros after the members: the digest of a stream follows them."""
        self._source.end = self.archive.offset + END_LIMIT
        stream: Any = self.archive.fileobj
        if stream.read(END_LIMIT << 1).strip(b"\0"):
            raise tarfile.ReadError("there is data behind its end")


class _Source:
    """The file that tarfile sees, which can be read only up to a place after the last member."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.end = file, HEADERS_LIMIT
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        if size < 0:
            raise tarfile.ReadError("the size of a header is negative")
        allowed = max(self.end - self.tell(), 0)
        data = self._file.read(min(size, allowed + 1))
        if len(data) > allowed:
            raise tarfile.ReadError(f"up to byte {self.end} there is neither a file nor the end of the archive")
        return data


class _Header(tarfile.TarInfo):
    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _Header:
        place = archive.offset
        try:
            header = super().fromtarfile(archive)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no valid header at byte {place}: {error}") from error
        if header.size < 0:  # tarfile would go back, and read the same headers again
            raise tarfile.ReadError(f"no valid header at byte {place}: its size is negative")
        return header
