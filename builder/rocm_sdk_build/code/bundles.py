"""The reader of offload bundles, not compressed and compressed (CCOB).

Source: clang's "Clang Offload Bundler". The extension finds the bundles of a file (`_native.device_code`). This module
adds the entries for the host and the exact bytes of the IDs.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.installed.readers import device_code_of_part
from rocm_sdk_build.base.pieces import data_ranges, read_range

from .compression import ZSTD, BundleHash, decompressed
from .scratch import Scratch

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle, DeviceCode

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGN = 4096  # alignment of bundles in a section and of entries in a bundle, as clang writes them
FIXED = struct.Struct("<24sQ")
ENTRY = struct.Struct("<QQQ")
_HEADER_LIMIT = 1 << 20
_ENTRY_LIMIT, _ID_LIMIT = 4096, 4096


class Change(NamedTuple):
    """Bytes of a code object that differ in the new file."""

    offset: int
    data: bytes


class Entry(NamedTuple):
    """An entry of a bundle: its ID, and the place of its bytes."""

    id: bytes
    descriptor: int
    offset: int
    size: int
    align: int  # the alignment of its place in the bundle, at most ALIGN
    changes: tuple[Change, ...] = ()  # in the order of their offsets

    @property
    def name(self) -> str:
        """The ID as the extension tells it."""
        return self.id.rstrip(b"\0").decode("latin-1")


class Bundle(NamedTuple):
    """A bundle whose plain bytes lie in an open file."""

    entries: tuple[Entry, ...]
    align: int  # alignment of the bundle itself
    version: int  # version of the compressed format, 0: not compressed
    method: int  # method of compression


def read_code(descriptor: int, path: str) -> DeviceCode:
    """Return the GPU code of an open file; `path` is its name in errors.

    Raise RewriteError for a file that is mostly holes.
    """
    size = os.fstat(descriptor).st_size
    _refuse_holes(descriptor, size, path)
    return device_code_of_part(descriptor, 0, size, path)


def _refuse_holes(descriptor: int, size: int, path: str) -> None:
    """Raise RewriteError for a file with large holes, which take no space, and as long to read as data."""
    holes = position = 0
    for start, end in data_ranges(descriptor, 0, size):
        holes += start - position
        position = end
        if holes > HOLE_LIMIT:
            break
    else:
        holes += size - position
    if holes > HOLE_LIMIT:
        raise refusal(
            path,
            f"it has holes of more than {HOLE_LIMIT} bytes, and no library has; cp --sparse=never copies it without",
        )


def read_bundle(
    descriptor: int,
    found: DeviceBundle,
    path: str,
    scratch: Scratch,
    is_dropped: Callable[[str], bool] = lambda _: False,
    *,
    any_ratio: bool = False,
) -> Bundle:
    """Return the parts of a bundle that was found; the plain bytes of a compressed bundle are written to `scratch`.

    `is_dropped` says whether the bytes of the entry of this name are not wanted, and not written. With `any_ratio` also
    a bundle is taken that would become many times as large.

    Raise RewriteError for a damaged bundle: its entries overlap, or its sizes or hash are wrong.
    """
    align = _align_of(found.offset)
    if found.container == "none":
        (image,) = found.images
        entry_id = f"hipv4-amdgcn-amd-amdhsa--{image.target}".encode()
        return Bundle((Entry(entry_id, descriptor, found.offset, found.size, ALIGN),), align, 0, ZSTD)
    if found.container == "bundle":
        head = b"".join(read_range(descriptor, found.offset, min(found.size, _HEADER_LIMIT), path))
        return Bundle(_entries(head, descriptor, found.offset, found.size, path), align, 0, ZSTD)
    if found.container != "compressed bundle":
        raise refusal(path, f"its code is in an {found.container}, which is not rewritten")
    if found.plain_size > _LARGEST_BUNDLE:
        raise refusal(path, f"the bundle at byte {found.offset} claims {found.plain_size} bytes, more than any has")
    if found.plain_size > max(PLAIN_LIMIT, found.size * RATIO_LIMIT) and not any_ratio:
        claim = f"{found.size} compressed bytes, which claim to be {found.plain_size}"
        raise refusal(path, f"the bundle at byte {found.offset} has {claim}; --force takes it")
    return _Decompression(descriptor, found, path, scratch, is_dropped).run(align)


def _align_of(offset: int) -> int:
    return min(ALIGN, offset & -offset) if offset else ALIGN


def _entries(head: bytes, descriptor: int, start: int, size: int, path: str) -> tuple[Entry, ...]:
    """Return the entries of a bundle that begins at `start` of a file, and whose head is known."""
    entries = []
    try:
        magic, count = FIXED.unpack_from(head)
        if magic != MAGIC or count > _ENTRY_LIMIT:
            raise refusal(path, f"the data at byte {start} is not a bundle")
        position = FIXED.size
        for _ in range(count):
            offset, length, id_size = ENTRY.unpack_from(head, position)
            position += ENTRY.size
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
    """Raise RewriteError for entries that share a part of their bytes: a small file would become a large one.

    Entries may share all of their bytes.
    """
    end = start + header_size
    for offset, size in sorted({(entry.offset, entry.size) for entry in entries if entry.size}):
        if offset < end:
            raise refusal(path, f"entries of the bundle at byte {start} overlap")
        end = offset + size


class _Decompression:
    """The writer of a CCOB's plain bytes to the scratch file, with holes in place of bytes that are not wanted."""

    def __init__(
        self, descriptor: int, found: DeviceBundle, path: str, scratch: Scratch, is_dropped: Callable[[str], bool]
    ) -> None:
        self.descriptor, self.found, self.path = descriptor, found, path
        self.scratch, self.is_dropped = scratch, is_dropped
        self.start = scratch.reserve(0)
        self.wanted: list[tuple[int, int]] = []  # [start, end) in the plain data

    def run(self, align: int) -> Bundle:
        """Write the plain bytes, and return the bundle.

        Raise RewriteError for a bundle that does not fit its header.
        """
        layout = HEADERS[self.found.version]
        header = b"".join(read_range(self.descriptor, self.found.offset, layout.size, self.path))
        _, _, method, *_, digest = layout.unpack(header)
        size = self.found.plain_size
        self.scratch.reserve(size)
        payload = (self.found.offset + layout.size, self.found.size - layout.size)
        with BundleHash(size) as hashed:
            pieces = hashed.passing(decompressed(read_range(self.descriptor, *payload, self.path), method, self.path))
            entries = self._take(pieces)
            if entries is None or hashed.value() != digest:
                what = "holds something else than its header says"
                raise refusal(self.path, f"the compressed bundle at byte {self.found.offset} {what}")
        return Bundle(entries, align, self.found.version, int(method))

    def _take(self, pieces: Iterator[bytes]) -> tuple[Entry, ...] | None:
        """Write the wanted bytes, and return the entries; None if the number of bytes differs from the header."""
        size = self.found.plain_size
        head = bytearray()
        for piece in pieces:
            head += piece
            if len(head) >= min(size, _HEADER_LIMIT):
                break
        if len(head) < min(size, _HEADER_LIMIT) or len(head) > size:
            return None
        entries = _entries(bytes(head[:_HEADER_LIMIT]), self.scratch.descriptor, self.start, size, self.path)
        kept = {(each.offset - self.start, each.size) for each in entries if not self.is_dropped(each.name)}
        self.wanted = sorted((start, start + length) for start, length in kept)
        self._refuse_too_many(sum(length for _, length in kept))
        position = 0
        for piece in chain([bytes(head)], pieces):
            if position + len(piece) > size:
                return None
            self._write(piece, position)
            position += len(piece)
        return entries if position == size else None

    def _refuse_too_many(self, size: int) -> None:
        disk = os.fstatvfs(self.scratch.descriptor)
        if size > disk.f_bavail * disk.f_frsize:
            raise refusal(self.path, f"its code takes {size} bytes when it is decompressed, more than the disk has")

    def _write(self, piece: bytes, position: int) -> None:
        """Write the wanted bytes of a piece that begins at `position`."""
        view = memoryview(piece)
        for start, end in self.wanted:
            first, last = max(start, position), min(end, position + len(piece))
            if first < last:
                self.scratch.write(view[first - position : last - position], self.start + first)


HEADERS = {1: struct.Struct("<4sHHI8s"), 2: struct.Struct("<4sHHII8s"), 3: struct.Struct("<4sHHQQ8s")}
NEWEST = 3  # the version without a limit of sizes
_LARGEST_BUNDLE = 16 << 30  # bytes
# docs/limits.md has these limits and their reasons.
RATIO_LIMIT, PLAIN_LIMIT = 256, 64 << 20
HOLE_LIMIT = 1 << 28  # bytes
