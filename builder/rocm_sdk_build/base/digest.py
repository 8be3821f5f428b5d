"""The SHA-256 of files, which are read in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

_CHUNK = 1 << 20


def sha256_of(path: Path) -> hashlib._Hash:
    """Return the digest of a file's content.

    Raise OSError if the file cannot be read.
    """
    return sha256_of_chunks(chunks_of(path))


def sha256_of_chunks(chunks: Iterable[bytes]) -> hashlib._Hash:
    """Return the digest of content that comes in pieces."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
