"""A member of an archive that has to be decompressed to be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

from rocm_sdk import _native
from rocm_sdk.fit.code.archive_errors import damage, of_reading, refusal

_BUFFER = 1 << 18
_LARGEST = 16 << 30  # bytes of a file; no linker makes a library of a quarter of it


def code_of_stream(name: str, chunks: Iterable[bytes], size: int) -> _native.DeviceCode:
    """Return the code of a file of `size` bytes that comes in pieces, which are written to a file without a name."""
    directory = tempfile.gettempdir()
    if size > _LARGEST:
        raise damage(name, f"it would have {size} bytes when it is decompressed, more than any library")
    room = os.statvfs(directory)
    if size > room.f_bavail * room.f_frsize:
        raise refusal(name, f"it takes {size} bytes to decompress, and {directory} has no room for them")
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        written = 0
        for chunk in chunks:
            written += len(chunk)
            if written > size:
                raise damage(name, f"it has more than the {size} bytes that the archive says")
            view = memoryview(chunk)
            try:
                while view:
                    view = view[file.write(view) :]
            except OSError as error:
                raise of_reading(name, error, "it cannot be decompressed", directory) from error
        if written != size:
            raise damage(name, f"it has {written} bytes, and the archive says {size}")
        return _native.device_code_of_part(file.fileno(), 0, size, name)


def chunks_of(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a stream whose head has been read."""
    yield head
    while chunk := stream.read(_BUFFER):
        yield chunk
