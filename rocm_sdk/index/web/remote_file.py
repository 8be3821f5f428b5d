"""A file on a web server, as a file object that reads it in parts (range requests): zipfile reads its end first."""

from __future__ import annotations

import io
import os
import re

from .server import Server, WebError

BLOCK = 1 << 16  # bytes that are asked for at once, at least
_TAIL = 2 * BLOCK  # the part of the file that is asked for first: the end of a zip file is in its last 65,577 bytes
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")


class NoPartsError(WebError):
    """The error for a server that does not send parts of this file."""


class RemoteFile(io.RawIOBase):
    """A reader like a file. Errors are WebError; at most `limit` bytes of the file are read in all."""

    def __init__(self, server: Server, address: str, limit: int) -> None:
        self._server, self._address = server, address
        self._left = limit
        self._at = 0
        self._size = 0
        self._tag: str | None = None
        self._blocks: dict[int, bytes] = {}
        first = self._ask(f"bytes=-{_TAIL}")
        self._end = (self._size - len(first), first)

    @property
    def size(self) -> int:
        """The bytes of the file, as the server says."""
        return self._size

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the position can be changed."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte to read."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Change the position as files do, and return it."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the beginning of the file")
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read as files do: fewer bytes only at the end."""
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._part(self._at, wanted) if wanted else b""
        self._at += len(data)
        return data

    def _part(self, start: int, size: int) -> bytes:
        place, tail = self._end
        if start >= place:
            return tail[start - place : start - place + size]
        first, last = start // BLOCK, (start + size - 1) // BLOCK
        for number in range(first, last + 1):
            if number not in self._blocks:
                after = next((each for each in range(number, last + 1) if each in self._blocks), last + 1)
                begin, end = number * BLOCK, min(after * BLOCK, self._size)
                read = self._ask(f"bytes={begin}-{end - 1}")
                if len(read) != end - begin:
                    raise self._wrong(f"{len(read)} bytes instead of {end - begin}")
                for each in range(number, after):  # up to the last one, or to one that is there
                    self._blocks[each] = read[(each - number) * BLOCK : (each - number + 1) * BLOCK]
        data = b"".join(self._blocks[number] for number in range(first, last + 1))
        return data[start - first * BLOCK :][:size]

    def _ask(self, wanted: str) -> bytes:
        headers = {"Range": wanted, "Accept-Encoding": "identity"}
        if self._tag is not None:
            headers["If-Range"] = self._tag
        try:
            answer = self._server.answer(self._address, self._left, headers, status=206)
        except WebError as error:
            if self._size and error.status == 200:
                raise self._wrong("the whole file, which has changed meanwhile") from error
            if error.status in {200, 416}:
                raise NoPartsError(f"{self._address}: the server does not send parts of it", "", 416) from error
            raise
        self._left -= len(answer.body)
        self._check_range(wanted, answer.headers.get("Content-Range", ""), len(answer.body))
        tag = answer.headers.get("ETag", "")
        self._tag = tag if tag.startswith('"') and tag.isprintable() and len(tag) < 1000 else None
        return answer.body

    def _check_range(self, wanted: str, said: str, length: int) -> None:
        """Check that the part is the one that was asked for, and that the file's size has not changed."""
        found = _RANGE.fullmatch(said)
        if found is None:
            raise self._wrong(f"no valid Content-Range: {said[:100]!r}")
        start, end, size = map(int, found.groups())
        start_wanted, _, end_wanted = wanted.removeprefix("bytes=").partition("-")
        first = int(start_wanted) if start_wanted else max(0, size - _TAIL)
        last = int(end_wanted) if start_wanted else size - 1
        if (start, end) != (first, last) or length != end - start + 1 or self._size not in {0, size}:
            raise self._wrong(f"{length} bytes as {said[:100]!r}")
        self._size = size

    def _wrong(self, what: str) -> WebError:
        return WebError(f"{self._address}: the server sent another part than was asked for: {what}")
