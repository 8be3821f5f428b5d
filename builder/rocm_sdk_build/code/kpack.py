"""kpack archives, read and written. Source: rocm-kpack."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgpack import packb

from rocm_sdk.gpu_code.compression import ZSTD
from rocm_sdk.gpu_code.msgpack import unpack
from rocm_sdk.gpu_code.pieces import Piece, write_all
from rocm_sdk.gpu_code.refusal import refusal

from .compressing import compressed
from .copying import have_same_bytes, write_pieces
from .elf64 import read_exactly

_HEADER = struct.Struct("<4sIQ")
_MAGIC, _VERSION = b"KPAK", 1
_BLOBS_AT = 64
_TOC_LIMIT = 1 << 27  # bytes
_PLAIN, _ZSTD = "none", "zstd-per-kernel"
_COUNT = struct.Struct("<I")


def pack(value: object) -> bytes:
    """The value in msgpack, as short as it can be."""
    return bytes(packb(value))


class Blob(NamedTuple):
    """A code object in the archive, compressed if the archive is; `offset` is in the file."""

    offset: int
    size: int


class Archive(NamedTuple):
    """An archive that is open for reading."""

    path: str
    descriptor: int
    contents: dict[str, object]  # its table of contents
    kernels: Mapping[tuple[str, str], int]  # (key, target) -> number of its blob
    blobs: tuple[Blob, ...]


def read_archive(descriptor: int, path: str) -> Archive:
    """Refuses an archive that is damaged or of another version."""
    size = os.fstat(descriptor).st_size
    magic, version, start = _HEADER.unpack(read_exactly(descriptor, 0, _HEADER.size, path))
    if magic != _MAGIC or version != _VERSION or not _BLOBS_AT <= start < size or size - start > _TOC_LIMIT:
        raise refusal(path, "it is not a kpack archive of version 1")
    try:
        contents = unpack(read_exactly(descriptor, start, size - start, path))
        if not isinstance(contents, dict):
            raise ValueError("it is not a map")
        blobs = tuple(_blobs(descriptor, contents, start, path))
        kernels = dict(_kernels(contents, len(blobs)))
    except (ValueError, LookupError, TypeError, AttributeError, struct.error) as error:
        raise refusal(path, f"its table of contents is damaged: {error}") from error
    return Archive(path, descriptor, contents, kernels, blobs)


def _kernels(contents: dict[str, object], count: int) -> Iterator[tuple[tuple[str, str], int]]:
    table = contents["toc"]
    if not isinstance(table, dict):
        raise ValueError("`toc` is not a map")
    for key, targets in table.items():
        for target, entry in targets.items():
            ordinal = entry["ordinal"]
            if not isinstance(ordinal, int) or not 0 <= ordinal < count:
                raise ValueError(f"{key} has no blob")
            yield (str(key), str(target)), ordinal


def _blobs(descriptor: int, contents: dict[str, object], end: int, path: str) -> Iterator[Blob]:
    scheme = contents.get("compression_scheme", _PLAIN)
    if scheme == _PLAIN:
        for each in contents["blobs"]:  # type: ignore[attr-defined]
            yield _checked(Blob(each["offset"], each["size"]), end)
        return
    if scheme != _ZSTD:
        raise ValueError(f"it is compressed by the scheme {scheme!r}")
    position, size = contents["zstd_offset"], contents["zstd_size"]
    if not isinstance(position, int) or not isinstance(size, int):
        raise ValueError("`zstd_offset` and `zstd_size` are not numbers")
    limit = _checked(Blob(position, size), end).offset + size
    (count,) = _COUNT.unpack(read_exactly(descriptor, position, _COUNT.size, path))
    position += _COUNT.size
    for _ in range(count):
        (length,) = _COUNT.unpack(read_exactly(descriptor, position, _COUNT.size, path))
        yield _checked(Blob(position + _COUNT.size, length), limit)
        position += _COUNT.size + length


def _checked(blob: Blob, end: int) -> Blob:
    if not (isinstance(blob.offset, int) and isinstance(blob.size, int)):
        raise ValueError("a place is not a number")
    if blob.offset < _BLOBS_AT or blob.size < 0 or blob.offset + blob.size > end:
        raise ValueError("a blob lies outside the archive")
    return blob


def write_archive(archive: Archive, is_kept: Callable[[str], bool], output: int) -> int:
    """Writes an archive with the kernels of the targets that are kept to an empty file; returns their number."""
    kept = {place: ordinal for place, ordinal in archive.kernels.items() if is_kept(place[1])}
    new = NewArchive(output, archive.contents.get("compression_scheme", _PLAIN) == _ZSTD)
    numbers = {}
    for old in sorted(set(kept.values())):
        offset, size = archive.blobs[old]
        numbers[old] = new.add_stored(archive.descriptor, offset, size, archive.path)
    new.finish(_contents(archive, kept, numbers))
    return len(kept)


class NewArchive:
    """An archive that is being written."""

    def __init__(self, output: int, is_compressed: bool) -> None:
        """output: the descriptor of an empty file."""
        self.is_compressed = is_compressed
        self._output, self._blobs = output, list[object]()
        self._position = _BLOBS_AT + (_COUNT.size if is_compressed else 0)

    def add_stored(self, descriptor: int, offset: int, size: int, path: str) -> int:
        """Copies a blob of an open file as it is; returns its number. path: of that file, for errors."""
        start = self._begin()
        write_pieces(self._output, [Piece(start, descriptor, offset, size)], path)
        return self._end(start, size)

    def add(self, image: Iterable[bytes], size: int, path: str) -> int:
        """Writes `size` bytes of a code object, compressed if the archive is; returns its number."""
        start = end = self._begin()
        for data in compressed(image, size, ZSTD, path) if self.is_compressed else image:
            write_all(self._output, data, end)
            end += len(data)
        return self._end(start, end - start)

    def finish(self, contents: dict[str, object]) -> None:
        """Writes the table of contents, to which the places of blobs are added."""
        number = len(self._blobs)
        places = {"zstd_offset": _BLOBS_AT, "zstd_size": self._position - _BLOBS_AT}
        if self.is_compressed:
            write_all(self._output, _COUNT.pack(number), _BLOBS_AT)
        scheme = {"compression_scheme": _ZSTD, **places} if self.is_compressed else {"blobs": self._blobs}
        write_all(self._output, pack({**contents, **scheme}), self._position)
        write_all(self._output, _HEADER.pack(_MAGIC, _VERSION, self._position), 0)

    def _begin(self) -> int:
        return self._position + (_COUNT.size if self.is_compressed else 0)

    def _end(self, start: int, size: int) -> int:
        if self.is_compressed:
            write_all(self._output, _COUNT.pack(size), start - _COUNT.size)
        self._blobs.append({"offset": start, "size": size})
        self._position = start + size
        return len(self._blobs) - 1


def _contents(archive: Archive, kept: Mapping[tuple[str, str], int], numbers: Mapping[int, int]) -> dict[str, object]:
    table: dict[str, dict[str, object]] = {}
    before = archive.contents["toc"]
    assert isinstance(before, dict)
    for (key, target), ordinal in kept.items():
        table.setdefault(key, {})[target] = {**before[key][target], "ordinal": numbers[ordinal]}
    targets = {target for _, target in kept}
    arches = archive.contents.get("gfx_arches")
    named = [each for each in arches if each in targets] if isinstance(arches, list) else sorted(targets)
    return {**archive.contents, "gfx_arches": named, "toc": table}


def differs(old: Archive, new: Archive, is_kept: Callable[[str], bool]) -> str | None:
    """What is wrong with a new archive; None if it holds exactly the kernels that were to be kept."""
    wanted = {place: ordinal for place, ordinal in old.kernels.items() if is_kept(place[1])}
    if new.kernels.keys() != wanted.keys():
        return "it has other kernels"
    for place, ordinal in wanted.items():
        one, other = old.blobs[ordinal], new.blobs[new.kernels[place]]
        places = (old.descriptor, one.offset), (new.descriptor, other.offset)
        if one.size != other.size or not have_same_bytes(*places, one.size):
            return f"the code of {place[0]} for {place[1]} differs"
    return None
