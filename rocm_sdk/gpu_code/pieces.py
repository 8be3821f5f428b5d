"""Reads ranges of open files in chunks, and writes all bytes of a chunk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from .refusal import refusal

_CHUNK = 1 << 20


class Piece(NamedTuple):
    """Bytes of an open file, and where they go. Between pieces there are zero bytes."""

    target: int  # offset in what is made
    descriptor: int
    offset: int
    size: int

    def at(self, distance: int) -> Piece:
        """The same, `distance` bytes further."""
        return self._replace(target=self.target + distance)


def write_all(descriptor: int, data: bytes | memoryview, offset: int) -> None:
    """Writes all bytes; os.pwrite may write fewer."""
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view = view[count:]
        offset += count


def read_range(descriptor: int, offset: int, size: int, path: str) -> Iterator[bytes]:
    """The bytes of a range of a file, in chunks of equal size; refuses a file that is shorter."""
    end = offset + size
    while offset < end:
        chunk = os.pread(descriptor, min(_CHUNK, end - offset), offset)
        if not chunk:
            raise refusal(path, f"it ends at byte {offset}")
        offset += len(chunk)
        yield chunk
