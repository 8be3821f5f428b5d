"""Compressed streams, read and written piece by piece: zlib is Python's, zstd of Python 3.14 or its backport.

A second thread hashes the pieces of large data, because hashing takes as long as decompressing.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Protocol

from rocm_sdk.base.zstd import ZSTD_INSTALL, import_zstd
from rocm_sdk.fit.code.refusal import refusal

ZLIB, ZSTD = 0, 1  # numbers in compressed bundles
_LIMIT = 1 << 20  # bytes of a decompressed piece, however much the data claims
_WAITING = 4  # pieces that are not hashed yet
_HASH_SIZE = 8
_LEVEL = 3  # level of zstd, as clang takes it


class _Codec(Protocol):
    ZstdDecompressor: Callable[[], Any]
    ZstdCompressor: Callable[..., Any]
    CompressionParameter: Any


def zstd_module(path: str) -> _Codec:
    """Return the module for Zstandard; raise RewriteError, which names the file `path`, if there is none."""
    try:
        return import_zstd()  # type: ignore[no-any-return]
    except ImportError as error:
        repair = None if ZSTD_INSTALL is None else f"python -m {ZSTD_INSTALL}"
        raise refusal(path, code="E-CODE-011", repair=repair) from error


def decompressed(packed: Iterator[bytes], method: int, path: str) -> Iterator[bytes]:
    """Return the plain data, in pieces of bounded size; `path` is the name in errors.

    The iterator raises RewriteError for damaged data.
    """
    if method == ZLIB:
        return _checked(_inflated(packed), path, zlib.error)
    module = zstd_module(path)
    return _checked(_unpacked(packed, module.ZstdDecompressor()), path, getattr(module, "ZstdError", OSError))


def compressed(plain: Iterable[bytes], size: int, method: int, path: str) -> Iterator[bytes]:
    """Yield `size` plain bytes, compressed as clang does it."""
    if method == ZLIB:
        compressor: Any = zlib.compressobj()
    else:
        module = zstd_module(path)
        parameters = module.CompressionParameter
        options = {parameters.compression_level: _LEVEL, parameters.enable_long_distance_matching: 1}
        compressor = module.ZstdCompressor(options=options)
        compressor.set_pledged_input_size(size)
    for piece in plain:
        yield compressor.compress(piece)
    yield compressor.flush()


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


def bundle_hash(pieces: Iterable[bytes]) -> bytes:
    """Return the hash of a plain bundle: the first 8 bytes of its MD5."""
    digest = hashlib.md5(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()[:_HASH_SIZE]


class BundleHash:
    """The hash of a plain bundle whose pieces pass by.

    `size` is the size of the bundle. A thread of its own hashes a bundle of several pieces. To start a thread takes as
    long as to hash a hundred kilobytes.
    """

    def __init__(self, size: int) -> None:
        self._digest = hashlib.md5(usedforsecurity=False)
        self._worker = ThreadPoolExecutor(1) if size > _LIMIT else None
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> BundleHash:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._worker is not None:
            self._worker.shutdown()

    def passing(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces, which are hashed meanwhile; wait while several are not hashed yet."""
        for piece in pieces:
            if self._worker is None:
                self._digest.update(piece)
            else:
                if len(self._waiting) >= _WAITING:
                    self._waiting.popleft().result()
                self._waiting.append(self._worker.submit(self._digest.update, piece))
            yield piece

    def value(self) -> bytes:
        """Return the hash of the pieces so far."""
        while self._waiting:
            self._waiting.popleft().result()
        return self._digest.digest()[:_HASH_SIZE]
