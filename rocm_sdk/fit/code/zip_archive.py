"""The code in zip files and wheels.

Stored members are read in place, deflated ones through a file without a name.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.archive_errors import damage, of_reading, unread
from rocm_sdk.fit.code.zip_file import DAMAGE, LOCAL_HEADER, Swelling, open_zip

from .candidate import HEAD_SIZE, is_candidate
from .member import chunks_of, code_of_stream

if TYPE_CHECKING:
    from .candidate import Found

_MAGIC = b"PK\x03\x04"
_RATIO = 1032  # deflate cannot do better
_ENCRYPTED = 1


def codes_of_zip(path: str, file: BinaryIO) -> Iterator[Found]:
    """Yield the code of the members that may hold any, in the order of their names."""
    swelling = Swelling(path)
    with open_zip(path, file) as archive:
        for member in sorted(archive.infolist(), key=lambda each: each.filename):
            if member.filename.endswith("/") or member.file_size < HEAD_SIZE:
                continue
            name = f"{path}/{member.filename}"
            try:
                found = _code_of(file, archive, member, name, swelling)
            except (RocmSdkError, *DAMAGE, OSError) as error:
                refused = of_reading(name, error, "it cannot be read from the archive")
                yield refused
                if refused.path == path:
                    return
            else:
                if found is not None:
                    yield found


def _code_of(
    file: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, swelling: Swelling
) -> _native.DeviceCode | None:
    if member.flag_bits & _ENCRYPTED:
        raise unread(name, "it is encrypted")
    if member.compress_type == zipfile.ZIP_STORED:
        if member.compress_size != member.file_size:
            raise damage(name, f"it is stored, and has {member.compress_size} bytes as well as {member.file_size}")
        file.seek(member.header_offset)
        magic, name_length, extra_length = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        start = file.seek(name_length + extra_length, os.SEEK_CUR)
        if magic != _MAGIC:
            raise damage(name, "there is no member where the list of members says")
        if not is_candidate(file.read(HEAD_SIZE)):
            return None
        return _native.device_code_of_part(file.fileno(), start, member.file_size, name)
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise unread(name, f"it is compressed by method {member.compress_type}; only stored and deflated ones are read")
    if member.file_size > member.compress_size * _RATIO + HEAD_SIZE:
        raise damage(
            name, f"it claims {member.file_size} bytes, which {member.compress_size} compressed ones cannot hold"
        )
    with archive.open(member) as stream:
        head = stream.read(HEAD_SIZE)
        if not is_candidate(head):
            return None
        swelling.count(member, name)
        return code_of_stream(name, chunks_of(head, stream), member.file_size)
