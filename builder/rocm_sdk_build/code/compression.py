"""Reads compressed streams piece by piece: zlib of the standard library, zstd of Python 3.14 or its backport.

A second thread hashes the pieces, because hashing takes as long as decompressing.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Protocol

from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.gpu_code.refusal import refusal

ZLIB, ZSTD = 0, 1  # by the numbers of compressed bundles
_LIMIT = 1 << 20  # bytes of a decompressed piece, whatever the data claims
_WAITING = 4  # pieces that are not hashed yet


class _Codec(Protocol):
    ZstdDecompressor: Callable[[], Any]
    ZstdCompressor: Callable[..., Any]
    CompressionParameter: Any


def zstd_module(path: str) -> _Codec:
    try:
        return import_zstd()  # type: ignore[no-any-return]
    except ImportError as error:
        raise refusal(path, code="E-CODE-011") from error


def decompressed(packed: Iterator[bytes], method: int, path: str) -> Iterator[bytes]:
    """The plain data, in pieces of bounded size. Refuses data that is damaged. path: for errors."""
    if method == ZLIB:
        return _checked(_inflated(packed), path, zlib.error)
    module = zstd_module(path)
    return _checked(_unpacked(packed, module.ZstdDecompressor()), path, getattr(module, "ZstdError", OSError))


def _checked(pieces: Iterator[bytes], path: str, kind: type[Exception]) -> Iterator[bytes]:
    try:
        yield from pieces
    except (kind, EOFError) as error:
        raise refusal(path, f"its compressed code is damaged: {error}") from error


def _inflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj()
    for data in packed:
        rest = data
        while rest and not stream.eof:
            yield stream.decompress(rest, _LIMIT)
            rest = stream.unconsumed_tail
    yield stream.flush()


def _unpacked(packed: Iterator[bytes], stream: Any) -> Iterator[bytes]:
    for data in packed:
        if stream.eof:
            return
        yield stream.decompress(data, _LIMIT)
        while not stream.needs_input and not stream.eof:
            yield stream.decompress(b"", _LIMIT)


class BundleHash:
    """The hash of a plain bundle: the first 8 bytes of its MD5. It is computed in a thread of its own."""

    def __init__(self) -> None:
        self._digest = hashlib.md5(usedforsecurity=False)
        self._worker = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> BundleHash:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._worker.shutdown()

    def update(self, piece: bytes) -> None:
        """Takes the next piece; waits while several are not hashed yet."""
        if len(self._waiting) >= _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._worker.submit(self._digest.update, piece))

    def passing(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces, which are hashed meanwhile."""
        for piece in pieces:
            self.update(piece)
            yield piece

    def value(self) -> bytes:
        """The hash of what came so far."""
        while self._waiting:
            self._waiting.popleft().result()
        return self._digest.digest()[:8]
