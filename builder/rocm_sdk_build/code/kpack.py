"""The reader and writer of kpack archives. Source: rocm-kpack.

The table of contents is kept in msgpack and searched anew for each question: an archive may have hundreds of thousands
of kernels, and a hostile one claims any number of anything.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from msgpack import Packer, Unpacker, UnpackException, packb, unpackb

from rocm_sdk.errors import RewriteError
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import Piece, write_all

from .compression import ZSTD, compressed
from .elf64 import read_exactly
from .file_pieces import have_same_bytes, write_pieces

MAGIC = b"KPAK"
_HEADER, _VERSION = struct.Struct("<4sIQ"), 1
_BLOBS_AT = 64
_PLAIN, _ZSTD = "none", "zstd-per-kernel"
_COUNT = struct.Struct("<I")

# docs/limits.md has these limits and their reasons.
CONTENTS_LIMIT = 1 << 25  # bytes of the table of contents
KERNEL_LIMIT = 1 << 18
_FIELD_LIMIT = 1 << 7  # fields of the table of contents
_VALUE_LIMIT = 1 << 16  # bytes that are decoded at once
_WINDOW = 1 << 18  # bytes that are read at once

Contents = dict[str, Iterable[bytes]]  # name of a field -> its value in msgpack


def pack(value: object) -> bytes:
    """Return the value in msgpack, as short as possible."""
    return bytes(packb(value))


def is_archive(descriptor: int) -> bool:
    """Return whether the open file begins as kpack archives do."""
    return os.pread(descriptor, len(MAGIC), 0) == MAGIC


class Kernel(NamedTuple):
    """A kernel of an archive; `entry` has its facts in the table of contents."""

    place: int  # number of its key
    key: str
    target: str
    ordinal: int  # ordinal of its blob
    entry: dict[str, Any]


class Blobs(NamedTuple):
    """The places of the code objects in the file, compressed if the archive is."""

    offsets: array[int]
    sizes: array[int]


class _Contents:
    """The table of contents of an archive, which is read in windows."""

    def __init__(self, descriptor: int, start: int, size: int, path: str) -> None:
        self._descriptor, self._start, self._size, self._path = descriptor, start, size, path
        self._window, self._window_at = b"", 0

    def part(self, start: int, end: int) -> bytes:
        """Return the bytes [start, end) of the table."""
        if start < self._window_at or end > self._window_at + len(self._window):
            size = min(max(end - start, _WINDOW), self._size - start)
            self._window = read_exactly(self._descriptor, self._start + start, size, self._path)
            self._window_at = start
        return self._window[start - self._window_at : end - self._window_at]

    def reader(self, start: int = 0) -> Unpacker:
        """Return a reader of the values from `start` on."""
        stream = _Stream(self._descriptor, self._start + start, self._start + self._size)
        return Unpacker(stream, max_buffer_size=CONTENTS_LIMIT)


class _Stream:
    """A part of a file, in the form that msgpack reads."""

    def __init__(self, descriptor: int, start: int, end: int) -> None:
        self._descriptor, self._position, self._end = descriptor, start, end

    def read(self, size: int) -> bytes:
        data = os.pread(self._descriptor, min(size, self._end - self._position), self._position)
        self._position += len(data)
        return data


class Archive(NamedTuple):
    """An archive that is open for reading."""

    path: str
    descriptor: int
    contents: _Contents
    fields: dict[str, tuple[int, int]]  # name of a field -> [start, end) of its value in the contents
    is_compressed: bool
    blobs: Blobs

    def kernels(self) -> Iterator[Kernel]:
        """Yield the kernels of the archive, in their order."""
        with _refusing_damage(self.path):
            yield from _kernels(self.contents, self.fields, len(self.blobs.offsets))

    def targets(self) -> set[str]:
        """Return the targets of the archive's kernels."""
        return {kernel.target for kernel in self.kernels()}

    def value(self, name: str) -> object:
        """Return a small field of the table of contents, or None if the table lacks it."""
        with _refusing_damage(self.path):
            return _value(self.contents, self.fields, name)

    def raw(self, name: str) -> bytes:
        """Return a field in msgpack."""
        return self.contents.part(*self.fields[name])


def read_archive(descriptor: int, path: str) -> Archive:
    """Return the archive in an open file.

    Raise RewriteError for an archive that is damaged, of another version, or larger than any real one.
    """
    size = os.fstat(descriptor).st_size
    magic, version, start = _HEADER.unpack(read_exactly(descriptor, 0, _HEADER.size, path))
    if magic != MAGIC or version != _VERSION or not _BLOBS_AT <= start < size:
        raise refusal(path, "it is not a kpack archive of version 1")
    if size - start > CONTENTS_LIMIT:
        raise refusal(path, f"its table of contents has {size - start} bytes, more than the limit of {CONTENTS_LIMIT}")
    contents = _Contents(descriptor, start, size - start, path)
    with _refusing_damage(path):
        fields = _fields(contents)
        scheme = _PLAIN if "compression_scheme" not in fields else _value(contents, fields, "compression_scheme")
        if scheme not in (_PLAIN, _ZSTD):
            raise ValueError(f"it is compressed by the scheme {scheme!r}")
        places = (
            _plain_blobs(contents, fields) if scheme == _PLAIN else _packed_blobs(descriptor, contents, fields, path)
        )
        archive = Archive(path, descriptor, contents, fields, scheme == _ZSTD, _checked(places, start))
    for _ in archive.kernels():
        pass  # the iteration checks each kernel
    return archive


@contextmanager
def _refusing_damage(path: str) -> Iterator[None]:
    try:
        yield
    except RewriteError:
        raise
    except (UnpackException, ValueError, LookupError, TypeError, OverflowError) as error:
        raise refusal(path, f"its table of contents is damaged: {str(error) or type(error).__name__}") from error


# ---- the table of contents ----


def _fields(contents: _Contents) -> dict[str, tuple[int, int]]:
    reader = contents.reader()
    count = _limited(reader.read_map_header(), _FIELD_LIMIT, "fields")
    fields = {}
    for _ in range(count):
        name = _text(contents, reader)
        start = reader.tell()
        reader.skip()
        fields[name] = (start, reader.tell())
    return fields


def _limited(count: int, limit: int, what: str) -> int:
    if count > limit:
        raise ValueError(f"it has {count} {what}, more than the limit of {limit}")
    return count


def _small(contents: _Contents, reader: Unpacker, base: int = 0) -> Any:
    """Return the next value, whose size is limited: a few bytes of msgpack can become many in memory."""
    start = reader.tell() + base
    reader.skip()
    return _decoded(contents, start, reader.tell() + base)


def _decoded(contents: _Contents, start: int, end: int) -> Any:
    _limited(end - start, _VALUE_LIMIT, "bytes in one value")
    return unpackb(contents.part(start, end))


def _text(contents: _Contents, reader: Unpacker, base: int = 0) -> str:
    value = _small(contents, reader, base)
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("a key is not a text, or has a NUL in it")
    return value


def _value(contents: _Contents, fields: dict[str, tuple[int, int]], name: str) -> object:
    return _decoded(contents, *fields[name]) if name in fields else None


def _kernels(contents: _Contents, fields: dict[str, tuple[int, int]], blob_count: int) -> Iterator[Kernel]:
    base, _ = fields["toc"]
    reader = contents.reader(base)
    total = 0
    for place in range(_limited(reader.read_map_header(), KERNEL_LIMIT, "keys")):
        key = _text(contents, reader, base)
        count = reader.read_map_header()
        total = _limited(total + count, KERNEL_LIMIT, "kernels")
        for _ in range(count):
            target = _text(contents, reader, base)
            entry = _small(contents, reader, base)
            ordinal = entry["ordinal"]
            if not isinstance(ordinal, int) or not 0 <= ordinal < blob_count:
                raise ValueError(f"{key} has no blob")
            yield Kernel(place, key, target, ordinal, entry)


# ---- blobs ----


def _plain_blobs(contents: _Contents, fields: dict[str, tuple[int, int]]) -> Blobs:
    base, _ = fields["blobs"]
    reader = contents.reader(base)
    found = Blobs(array("Q"), array("Q"))
    for _ in range(_limited(reader.read_array_header(), KERNEL_LIMIT, "blobs")):
        each = _small(contents, reader, base)
        found.offsets.append(each["offset"])
        found.sizes.append(each["size"])
    return found


def _packed_blobs(descriptor: int, contents: _Contents, fields: dict[str, tuple[int, int]], path: str) -> Blobs:
    position, size = (_value(contents, fields, name) for name in ("zstd_offset", "zstd_size"))
    if not isinstance(position, int) or not isinstance(size, int) or position < _BLOBS_AT:
        raise ValueError("`zstd_offset` and `zstd_size` are not numbers")
    limit = position + size
    (count,) = _COUNT.unpack(read_exactly(descriptor, position, _COUNT.size, path))
    position += _COUNT.size
    found = Blobs(array("Q"), array("Q"))
    for _ in range(_limited(count, KERNEL_LIMIT, "blobs")):
        (length,) = _COUNT.unpack(read_exactly(descriptor, position, _COUNT.size, path))
        position += _COUNT.size
        found.offsets.append(position)
        found.sizes.append(length)
        position += length
        if position > limit:
            raise ValueError("a blob lies outside the archive")
    return found


def _checked(blobs: Blobs, end: int) -> Blobs:
    """Return the blobs; raise ValueError for blobs that overlap or lie outside the archive.

    Blobs that share bytes would make a small archive hold any amount.
    """
    position = _BLOBS_AT
    for number in sorted(range(len(blobs.offsets)), key=blobs.offsets.__getitem__):
        offset, size = blobs.offsets[number], blobs.sizes[number]
        if offset < _BLOBS_AT or offset + size > end:
            raise ValueError("a blob lies outside the archive")
        if size and offset < position:
            raise ValueError(f"its blobs overlap at byte {offset}")
        position = max(position, offset + size)
    return blobs


# ---- writing ----


def write_archive(archive: Archive, kept: set[str], output: int) -> int:
    """Write an archive with the kernels of these targets to an empty file; return the number of kernels."""
    is_wanted, counts, last = bytearray(len(archive.blobs.offsets)), array("Q"), -1
    for kernel in archive.kernels():
        if kernel.target in kept:
            is_wanted[kernel.ordinal] = True
            if kernel.place != last:
                counts.append(0)
                last = kernel.place
            counts[-1] += 1
    new = NewArchive(output, archive.is_compressed)
    numbers = array("Q", bytes(8 * len(is_wanted)))  # numbers of the old blobs in the new archive
    for old in filter(is_wanted.__getitem__, range(len(is_wanted))):
        offset, size = archive.blobs.offsets[old], archive.blobs.sizes[old]
        numbers[old] = new.add_stored(archive.descriptor, offset, size, archive.path)
    arches = archive.value("gfx_arches")
    named = sorted(kept)
    if isinstance(arches, list):
        named = [each for each in arches if isinstance(each, str) and each in kept]
    contents: Contents = {name: [archive.raw(name)] for name in archive.fields}
    new.finish({**contents, "gfx_arches": [pack(named)], "toc": _table(archive, kept, counts, numbers)})
    return sum(counts)


def _table(archive: Archive, kept: set[str], counts: array[int], numbers: array[int]) -> Iterator[bytes]:
    """Yield the table of the kernels that stay, in msgpack.

    `counts` has the number of kernels for each key that keeps any.
    """
    packer = Packer()
    yield packer.pack_map_header(len(counts))
    left, last = iter(counts), -1
    for kernel in archive.kernels():
        if kernel.target in kept:
            if kernel.place != last:
                yield packer.pack(kernel.key) + packer.pack_map_header(next(left))
                last = kernel.place
            yield packer.pack(kernel.target) + packer.pack({**kernel.entry, "ordinal": numbers[kernel.ordinal]})


class NewArchive:
    """An archive that is being written."""

    def __init__(self, output: int, is_compressed: bool) -> None:
        """Begin an archive; `output` is the descriptor of an empty file."""
        self.is_compressed = is_compressed
        self._output, self._blobs = output, Blobs(array("Q"), array("Q"))
        self._position = _BLOBS_AT + (_COUNT.size if is_compressed else 0)

    def add_stored(self, descriptor: int, offset: int, size: int, path: str) -> int:
        """Copy a blob of an open file as it is; return its number.

        `path` is the name of that file in errors.
        """
        start = self._begin()
        write_pieces(self._output, [Piece(start, descriptor, offset, size)], path)
        return self._end(start, size)

    def add(self, image: Iterable[bytes], size: int, path: str) -> int:
        """Write `size` bytes of a code object, compressed if the archive is; return the number of the blob."""
        start = end = self._begin()
        for data in compressed(image, size, ZSTD, path) if self.is_compressed else image:
            write_all(self._output, data, end)
            end += len(data)
        return self._end(start, end - start)

    def finish(self, contents: Contents) -> None:
        """Write the table of contents, to which the places of blobs are added."""
        if self.is_compressed:
            write_all(self._output, _COUNT.pack(len(self._blobs.offsets)), _BLOBS_AT)
            places = {"zstd_offset": _BLOBS_AT, "zstd_size": self._position - _BLOBS_AT}
            fields = {"compression_scheme": _ZSTD, **places}
            contents = {**contents, **{name: [pack(value)] for name, value in fields.items()}}
        else:
            contents = {**contents, "blobs": self._places()}
        with open(self._output, "r+b", buffering=1 << 16, closefd=False) as file:
            file.seek(self._position)
            file.write(Packer().pack_map_header(len(contents)))
            for name, value in contents.items():
                file.write(pack(name))
                file.writelines(value)
        write_all(self._output, _HEADER.pack(MAGIC, _VERSION, self._position), 0)

    def _places(self) -> Iterator[bytes]:
        packer = Packer()
        yield packer.pack_array_header(len(self._blobs.offsets))
        for offset, size in zip(*self._blobs, strict=True):
            yield packer.pack({"offset": offset, "size": size})

    def _begin(self) -> int:
        return self._position + (_COUNT.size if self.is_compressed else 0)

    def _end(self, start: int, size: int) -> int:
        if self.is_compressed:
            write_all(self._output, _COUNT.pack(size), start - _COUNT.size)
        self._blobs.offsets.append(start)
        self._blobs.sizes.append(size)
        self._position = start + size
        return len(self._blobs.offsets) - 1


def differs(old: Archive, new: Archive, kept: set[str]) -> str | None:
    """Return the fault of a new archive; None if the archive holds exactly the kernels of these targets."""
    found = new.kernels()
    for one in old.kernels():
        if one.target not in kept:
            continue
        other = next(found, None)
        if other is None or (one.key, one.target) != (other.key, other.target):
            return "it has other kernels"
        size = old.blobs.sizes[one.ordinal]
        before = (old.descriptor, old.blobs.offsets[one.ordinal])
        after = (new.descriptor, new.blobs.offsets[other.ordinal])
        if size != new.blobs.sizes[other.ordinal] or not have_same_bytes(before, after, size):
            return f"the code of {one.key} for {one.target} differs"
    return None if next(found, None) is None else "it has other kernels"
