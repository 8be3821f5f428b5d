"""The code in tar archives: members of an uncompressed one are read in place, others as they go by."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from rocm_sdk import _native
from rocm_sdk.base.zstd import ZSTD_FIX, import_zstd
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.archive_errors import of_reading, unread
from rocm_sdk.fit.code.tar_reader import TarReader
from rocm_sdk.fit.code.zip_file import refuse_swollen

from .candidate import HEAD_SIZE, is_candidate
from .member import chunks_of, code_of_stream

if TYPE_CHECKING:
    from .candidate import Found

_Reader = tuple[Callable[..., Any], type[Exception]]

# First bytes -> the function that decompresses, and at the end of the stream checks what it has read; its error for
# damage.
_READERS: dict[bytes, _Reader] = {
    b"\x1f\x8b": (gzip.open, zlib.error),
    b"BZh": (bz2.open, OSError),
    b"\xfd7zXZ\x00": (lzma.open, lzma.LZMAError),
}
# Further errors of tarfile, for headers that are damaged.
_DAMAGE = (ValueError, TypeError, LookupError, RuntimeError, OverflowError)
_ZSTD = b"\x28\xb5\x2f\xfd"


def codes_of_tar(path: str, file: BinaryIO) -> Iterator[Found]:
    """Yield the code of the members that may hold any, in the order of the archive."""
    head = file.read(HEAD_SIZE)
    file.seek(0)
    reader, error_of_reader = _reader_of(path, head)
    try:
        if reader is None:
            yield from _codes(path, file, TarReader(file, is_stream=False), False)
            return
        with reader(file, "rb") as stream:
            archive = TarReader(stream, is_stream=True)
            yield from _codes(path, file, archive, True)
            archive.read_to_end()
    except (RocmSdkError, tarfile.TarError, EOFError, OSError, error_of_reader, *_DAMAGE) as error:
        raise of_reading(path, error, "no usable tar archive") from error


def _reader_of(path: str, head: bytes) -> _Reader | tuple[None, type[Exception]]:
    if not head.startswith(_ZSTD):
        return next((each for magic, each in _READERS.items() if head.startswith(magic)), (None, tarfile.TarError))
    try:
        zstd = import_zstd()
    except ImportError as error:
        raise unread(path, "it is compressed by zstd, which this Python cannot read", ZSTD_FIX) from error
    return zstd.open, zstd.ZstdError


def _codes(path: str, file: IO[bytes], archive: TarReader, is_compressed: bool) -> Iterator[Found]:
    total, packed = 0, os.path.getsize(path)
    for member in archive.members():
        total += member.size
        if is_compressed:
            refuse_swollen(path, "its members have", packed, total)
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
