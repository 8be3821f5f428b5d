"""A file for bytes that no other file holds: decompressed code, headers, compressed bundles."""

from __future__ import annotations

import os
import tempfile
from types import TracebackType

from rocm_sdk_build.base.pieces import naming_place, write_all


class Scratch:
    """A file without a name, which is removed at the end of the block that uses it."""

    def __init__(self, directory: str) -> None:
        try:
            self._file = tempfile.TemporaryFile(dir=directory, prefix=".rocm-sdk-", buffering=0)  # noqa: SIM115 - __exit__
        except OSError as error:  # the error names a file that was not made
            raise type(error)(error.errno, error.strerror, directory) from None
        self.descriptor = self._file.fileno()
        self._directory, self._end = directory, 0

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def reserve(self, size: int) -> int:
        """Make room for this number of bytes, and return its offset.

        The bytes are zero until they are written, and take no space.
        """
        start = self._end
        self._end += size
        os.ftruncate(self.descriptor, self._end)
        return start

    def add(self, data: bytes) -> int:
        """Add bytes, and return their offset."""
        start = self._end
        self.write(data, start)
        self._end += len(data)
        return start

    def write(self, data: bytes | memoryview, offset: int) -> None:
        """Fill room that was reserved."""
        with naming_place(self._directory):
            write_all(self.descriptor, data, offset)
