"""Tar archives. Members of an uncompressed one are read where they lie, those of a compressed one as they go by."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from rocm_sdk import _native
from rocm_sdk.base.archive_errors import damage
from rocm_sdk.base.tar_reader import TarReader
from rocm_sdk.errors import RocmSdkError

from .candidate import HEAD_SIZE, is_candidate
from .member import chunks_of, code_of_stream

if TYPE_CHECKING:
    from .candidate import Found

# By the first bytes: what decompresses, and checks at the end of the stream what it has read.
_READERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
# What tarfile raises besides, for headers that are damaged.
_DAMAGE = (ValueError, TypeError, LookupError, RuntimeError, OverflowError, lzma.LZMAError)
_ZSTD = b"\x28\xb5\x2f\xfd"
_LARGEST = 256 << 30  # bytes of all members of a compressed archive


def codes_of_tar(path: str, file: BinaryIO) -> Iterator[Found]:
    """The code of the members that may hold any, in the order of the archive."""
    head = file.read(HEAD_SIZE)
    file.seek(0)
    if head.startswith(_ZSTD):
        raise damage(path, "it is compressed by zstd; decompress it first: zstd -d")
    reader = next((each for magic, each in _READERS.items() if head.startswith(magic)), None)
    try:
        if reader is None:
            yield from _codes(path, file, TarReader(file, is_stream=False), False)
            return
        with reader(file, "rb") as stream:
            archive = TarReader(stream, is_stream=True)
            yield from _codes(path, file, archive, True)
            archive.read_to_end()
    except RocmSdkError:
        raise
    except (tarfile.TarError, EOFError, zlib.error, OSError, *_DAMAGE) as error:
        raise damage(path, f"no usable tar archive: {error}") from error


def _codes(path: str, file: IO[bytes], archive: TarReader, is_compressed: bool) -> Iterator[Found]:
    total = 0
    for member in archive.members():
        total += member.size
        if is_compressed and total > _LARGEST:
            raise damage(path, "its members have more bytes than any installation")
        if not member.isreg() or member.issparse() or member.size < HEAD_SIZE:
            continue
        name = f"{path}/{member.name}"
        try:
            found = _streamed(archive.archive, member, name) if is_compressed else _in_place(file, member, name)
        except RocmSdkError as error:
            yield error
        else:
            if found is not None:
                yield found


def _in_place(file: IO[bytes], member: tarfile.TarInfo, name: str) -> _native.DeviceCode | None:
    file.seek(member.offset_data)
    head = file.read(HEAD_SIZE)
    if not is_candidate(head):
        return None
    return _native.device_code_of_part(file.fileno(), member.offset_data, member.size, name)


def _streamed(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> _native.DeviceCode | None:
    stream = archive.extractfile(member)
    head = stream.read(HEAD_SIZE) if stream is not None else b""
    if stream is None or not is_candidate(head):
        return None
    return code_of_stream(name, chunks_of(head, stream), member.size)
