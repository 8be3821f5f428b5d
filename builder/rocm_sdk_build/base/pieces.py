"""The reader of ranges of open files, in chunks, and the writer of all bytes of a chunk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.errors import NO_SPACE

_CHUNK = 1 << 20


@contextmanager
def naming_place(place: str) -> Iterator[None]:
    """Yield to a block that writes to a place, and name the place in an error for want of space.

    The system does not name the place.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in NO_SPACE:
            raise OSError(error.errno, error.strerror, place) from error
        raise


class Piece(NamedTuple):
    """Bytes of an open file, and their target; between pieces there are zero bytes."""

    target: int  # offset in the new file
    descriptor: int
    offset: int
    size: int

    def at(self, distance: int) -> Piece:
        """Return the piece with a target that is `distance` bytes further."""
        return self._replace(target=self.target + distance)


def write_all(descriptor: int, data: bytes | memoryview, offset: int) -> None:
    """Write all bytes; os.pwrite may write fewer."""
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view = view[count:]
        offset += count


def data_ranges(descriptor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range for which the file has bytes: [start, end).

    Between the parts there are holes, which are zeros.
    """
    while start < end:
        try:
            first = os.lseek(descriptor, start, os.SEEK_DATA)
            start = os.lseek(descriptor, first, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.EINVAL:  # the file system has no holes
                yield start, end
            return  # ENXIO: no more data
        if first < end:
            yield first, min(start, end)


def read_range(descriptor: int, offset: int, size: int, path: str) -> Iterator[bytes]:
    """Yield the bytes of a range of a file, in chunks of equal size.

    Raise RewriteError for a file that is shorter.
    """
    end = offset + size
    while offset < end:
        chunk = os.pread(descriptor, min(_CHUNK, end - offset), offset)
        if not chunk:
            raise refusal(path, f"it ends at byte {offset}")
        offset += len(chunk)
        yield chunk
