"""The file of a source distribution (.tar.gz) on a web server, which is read whole: selectors' archives are small."""

from __future__ import annotations

import io
import tarfile
import zlib
from typing import TYPE_CHECKING

from rocm_sdk.fit.code.tar_reader import TarReader

from .server import Server, WebError

if TYPE_CHECKING:
    from .simple_index import IndexedFile

PACKED_LIMIT = 4 << 20  # bytes
UNPACKED_LIMIT = 16 << 20
_GZIP = 16 + zlib.MAX_WBITS
# The errors of tarfile and zlib for damaged archives. RecursionError: a chain of headers that describe one another.
_DAMAGE = (tarfile.TarError, zlib.error, EOFError, ValueError, LookupError, OverflowError, RecursionError, OSError)


def file_in_source_archive(server: Server, file: IndexedFile, name: str) -> bytes | None:
    """Return the content of a regular file, by its name below the archive's one directory; None if it has none.

    Raises WebError.
    """
    packed = server.read(file.address, PACKED_LIMIT)
    path = f"{file.name.removesuffix('.tar.gz')}/{name}"
    try:
        unpacked = zlib.decompressobj(_GZIP).decompress(packed, UNPACKED_LIMIT + 1)
        if len(unpacked) > UNPACKED_LIMIT:
            raise ValueError(f"it has more than {UNPACKED_LIMIT} bytes")
        reader = TarReader(io.BytesIO(unpacked), is_stream=False)
        found = next((member for member in reader.members() if member.name == path and member.isreg()), None)
        stream = reader.archive.extractfile(found) if found is not None and not found.issparse() else None
        return None if stream is None else stream.read()
    except _DAMAGE as error:
        words = f"{file.address}: cannot be read as a source distribution: {error}"
        raise WebError(words, "ask those who run the index") from error
