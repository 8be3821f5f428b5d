"""Offload bundles as they are taken apart and put together, not compressed and compressed (CCOB).

Source: clang's "Clang Offload Bundler". What a file holds is found by the extension (`_native.device_code`); here are
the entries for the host too, and the exact bytes of the IDs.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError

from .pieces import Piece, read_pieces, read_range
from .refusal import refusal

if TYPE_CHECKING:
    from rocm_sdk._native import DeviceBundle, DeviceCode

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGN = 4096  # of bundles in a section and of entries in a bundle, as clang writes them
_FIXED = struct.Struct("<24sQ")
_ENTRY = struct.Struct("<QQQ")
_HEADER_LIMIT = 1 << 20
_ENTRY_LIMIT, _ID_LIMIT = 4096, 4096
_LEVEL = 3  # of zstd, as clang takes it
_ZLIB, _ZSTD = 0, 1
_ZSTD_MODULE = "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"


class Change(NamedTuple):
    """Bytes of a code object that are others in the new file."""

    offset: int
    data: bytes


class Entry(NamedTuple):
    """An entry of a bundle: its ID, and where its bytes are."""

    id: bytes
    descriptor: int
    offset: int
    size: int
    align: int  # what its place in the bundle was a multiple of, at most ALIGN
    changes: tuple[Change, ...] = ()  # in order

    @property
    def is_for_host(self) -> bool:
        """Whether it stands for the code of the host; it is kept, whatever else is."""
        return self.id.startswith(b"host-")

    @property
    def name(self) -> str:
        """The ID as the extension tells it."""
        return self.id.rstrip(b"\0").decode("latin-1")


class Bundle(NamedTuple):
    """A bundle whose plain bytes lie in an open file."""

    entries: tuple[Entry, ...]
    align: int  # of the bundle itself
    version: int  # of the compressed format, 0: not compressed
    method: int  # of compression


class Codec(Protocol):
    """zstd of Python 3.14, or its backport."""

    ZstdDecompressor: Callable[[], Any]
    ZstdCompressor: Callable[..., Any]
    CompressionParameter: Any


def read_code(descriptor: int, path: str) -> DeviceCode:
    """What the open file holds. Errors name its path."""
    try:
        return _native.device_code(f"/proc/self/fd/{descriptor}")
    except RocmSdkError:
        return _native.device_code(path)


def read_bundle(descriptor: int, found: DeviceBundle, path: str, scratch: IO[bytes]) -> Bundle:
    """Takes apart what was found; the plain bytes of a compressed one are added to `scratch`.

    Refuses damaged ones: those whose entries overlap, whose sizes or hash are not what they say.
    """
    align = _align_of(found.offset)
    if found.container == "none":
        (image,) = found.images
        entry_id = f"hipv4-amdgcn-amd-amdhsa--{image.target}".encode()
        return Bundle((Entry(entry_id, descriptor, found.offset, found.size, ALIGN),), align, 0, _ZSTD)
    if found.container == "bundle":
        return Bundle(_entries(descriptor, found.offset, found.size, path), align, 0, _ZSTD)
    if found.container != "compressed bundle":
        raise refusal(path, f"its code is in an {found.container}, which is not rewritten")
    start = os.fstat(scratch.fileno()).st_size
    method = _decompress(descriptor, found, path, scratch)
    entries = _entries(scratch.fileno(), start, found.plain_size, path)
    return Bundle(entries, align, found.version, method)


def _align_of(offset: int) -> int:
    return min(ALIGN, offset & -offset) if offset else ALIGN


def _entries(descriptor: int, start: int, size: int, path: str) -> tuple[Entry, ...]:
    head = b"".join(read_range(descriptor, start, min(size, _HEADER_LIMIT), path))
    entries = []
    try:
        magic, count = _FIXED.unpack_from(head)
        if magic != MAGIC or count > _ENTRY_LIMIT:
            raise refusal(path, f"what lies at byte {start} is no bundle")
        position = _FIXED.size
        for _ in range(count):
            offset, length, id_size = _ENTRY.unpack_from(head, position)
            position += _ENTRY.size
            name = head[position : position + id_size]
            if id_size > _ID_LIMIT or len(name) < id_size or offset + length > size:
                raise refusal(path, f"an entry of the bundle at byte {start} lies outside it")
            position += id_size
            entries.append(Entry(name, descriptor, start + offset, length, _align_of(offset)))
    except struct.error as error:
        raise refusal(path, f"the bundle at byte {start} ends within its header") from error
    _refuse_overlaps(entries, start, position, path)
    return tuple(entries)


def _refuse_overlaps(entries: Sequence[Entry], start: int, header_size: int, path: str) -> None:
    """Entries may share their bytes, but not a part of them: a small file would become a large one."""
    end = start + header_size
    for offset, size in sorted({(entry.offset, entry.size) for entry in entries if entry.size}):
        if offset < end:
            raise refusal(path, f"entries of the bundle at byte {start} overlap")
        end = offset + size


# ---- putting together ----


class NewBundle(NamedTuple):
    """The bytes of a bundle that was put together."""

    pieces: tuple[Piece, ...]
    size: int
    plain_size: int


def build_plain(entries: Iterable[Entry], scratch: IO[bytes]) -> NewBundle:
    """A bundle that is not compressed; its header is added to `scratch`."""
    kept = tuple(entries)
    header_size = _FIXED.size + sum(_ENTRY.size + len(entry.id) for entry in kept)
    header = bytearray(_FIXED.pack(MAGIC, len(kept)))
    position = header_size
    places: dict[object, int] = {}
    pieces: list[Piece] = []
    for entry in kept:
        place = entry[1:]
        offset = -(-position // entry.align) * entry.align
        if place not in places:
            places[place] = offset
            if entry.size:
                pieces += _pieces_of(entry, offset, scratch)
                position = offset + entry.size
        header += _ENTRY.pack(places[place], entry.size, len(entry.id)) + entry.id
    start = add_bytes(scratch, bytes(header))
    return NewBundle((Piece(0, scratch.fileno(), start, len(header)), *pieces), position, position)


def _pieces_of(entry: Entry, target: int, scratch: IO[bytes]) -> Iterator[Piece]:
    done = 0
    for change in sorted(entry.changes):
        yield Piece(target + done, entry.descriptor, entry.offset + done, change.offset - done)
        start = add_bytes(scratch, change.data)
        yield Piece(target + change.offset, scratch.fileno(), start, len(change.data))
        done = change.offset + len(change.data)
    yield Piece(target + done, entry.descriptor, entry.offset + done, entry.size - done)


def build_compressed(plain: NewBundle, version: int, method: int, path: str, scratch: IO[bytes]) -> NewBundle:
    """The same compressed, in the version of the format that it had; its bytes are added to `scratch`."""
    digest = hashlib.md5(usedforsecurity=False)
    start = add_bytes(scratch, bytes(_HEADERS[version].size))
    scratch.seek(0, os.SEEK_END)
    compressor = zlib.compressobj() if method == _ZLIB else _zstd(path).ZstdCompressor(options=_options(path))
    for chunk in read_pieces(plain.pieces, path):
        digest.update(chunk)
        scratch.write(compressor.compress(chunk))
    scratch.write(compressor.flush())
    scratch.flush()
    size = scratch.tell() - start
    if version != _LARGEST and max(size, plain.size) >= 1 << 32:
        raise refusal(path, f"a bundle of {plain.size} bytes is too large for version {version} of its format")
    fields = {1: (plain.size,), 2: (size, plain.size), 3: (size, plain.size)}[version]
    header = _HEADERS[version].pack(b"CCOB", version, method, *fields, digest.digest()[:8])
    os.pwrite(scratch.fileno(), header, start)
    return NewBundle((Piece(0, scratch.fileno(), start, size),), size, plain.size)


_HEADERS = {1: struct.Struct("<4sHHI8s"), 2: struct.Struct("<4sHHII8s"), 3: struct.Struct("<4sHHQQ8s")}
_LARGEST = 3


def add_bytes(scratch: IO[bytes], data: bytes) -> int:
    """Adds bytes to the end of a file; returns where they are."""
    start = scratch.seek(0, os.SEEK_END)
    scratch.write(data)
    scratch.flush()
    return start


# ---- compression ----


def _decompress(descriptor: int, found: DeviceBundle, path: str, scratch: IO[bytes]) -> int:
    """Adds the plain bytes of a CCOB to `scratch`; returns the method. Refuses one that is not what its header says."""
    layout = _HEADERS[found.version]
    header = b"".join(read_range(descriptor, found.offset, layout.size, path))
    _, _, method, *_, digest = layout.unpack(header)
    free = os.fstatvfs(scratch.fileno())
    if found.plain_size > free.f_bavail * free.f_frsize:
        raise refusal(
            path, f"the bundle at byte {found.offset} claims {found.plain_size} bytes, more than the disk has"
        )
    actual = hashlib.md5(usedforsecurity=False)
    size = 0
    scratch.seek(0, os.SEEK_END)
    packed = read_range(descriptor, found.offset + layout.size, found.size - layout.size, path)
    for chunk in _plain_chunks(packed, method, path):
        size += len(chunk)
        if size > found.plain_size:
            break
        actual.update(chunk)
        scratch.write(chunk)
    scratch.flush()
    if size != found.plain_size or actual.digest()[:8] != digest:
        raise refusal(path, f"the compressed bundle at byte {found.offset} holds something else than its header says")
    return int(method)


def _plain_chunks(packed: Iterator[bytes], method: int, path: str) -> Iterator[bytes]:
    """Decompressed chunks of bounded size, whatever the data claims."""
    limit = 1 << 20
    stream = _zstd(path).ZstdDecompressor() if method == _ZSTD else None
    try:
        if stream is None:
            inflate = zlib.decompressobj()
            for data in packed:
                chunk = data
                while chunk and not inflate.eof:
                    yield inflate.decompress(chunk, limit)
                    chunk = inflate.unconsumed_tail
            yield inflate.flush()
            return
        for data in packed:
            if stream.eof:
                return
            yield stream.decompress(data, limit)
            while not stream.needs_input and not stream.eof:
                yield stream.decompress(b"", limit)
    except (zlib.error, OSError, EOFError, ValueError, _codec_error()) as error:
        raise refusal(path, f"its compressed code is damaged: {error}") from error


def _codec_error() -> type[Exception]:
    """The error of the zstd module, if it was imported."""
    found = getattr(sys.modules.get(_ZSTD_MODULE), "ZstdError", None)
    return found if isinstance(found, type) else zlib.error


def _zstd(path: str) -> Codec:
    try:
        return import_module(_ZSTD_MODULE)
    except ImportError as error:
        raise refusal(path, code="E-CODE-011", requirement="backports.zstd") from error


def _options(path: str) -> dict[Any, int]:
    parameters = _zstd(path).CompressionParameter
    return {parameters.compression_level: _LEVEL, parameters.enable_long_distance_matching: 1}


def new_scratch(directory: str) -> IO[bytes]:
    """A file without a name, which goes with its descriptor."""
    return tempfile.TemporaryFile(dir=directory, prefix=".rocm-sdk-")
