"""The opening of zip files and wheels, which may be hostile: the list of members is checked before it is read."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from typing import BinaryIO

from rocm_sdk.errors import RocmSdkError

from .archive_errors import damage, of_reading, unread

LOCAL_HEADER = struct.Struct("<4s22xHH")
_END, _END_SIZE, _LONGEST_COMMENT = b"PK\x05\x06", 22, 0xFFFF
_LOCATOR, _LOCATOR_SIZE, _END_64 = b"PK\x06\x07", 20, b"PK\x06\x06"
_END_64_SIZE, _ENTRY_SIZE = 56, 46
# docs/limits.md has these limits and their reasons.
_MEMBER_LIMIT = 1 << 17
_LARGEST_DIRECTORY = 32 << 20  # bytes
# The ratios of a member and of all together, as of compressed bundles of GPU code (csrc/device_code/bundle.c).
_READ_RATIO, _ANY_RATIO_UP_TO = 256, 64 << 20

# The errors of zipfile for members that are damaged, encrypted or of an unknown method; and OSError without a number.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, LookupError, OverflowError),
)


def open_zip(path: str, file: BinaryIO) -> zipfile.ZipFile:
    """Open the archive, whose list of members is sound. Raise BadArchiveError if that list is not."""
    try:
        _check_directory(file, path)
        archive = zipfile.ZipFile(file)
        end, last = 0, ""  # if members share bytes, a small file can hold any amount
        for member in sorted(archive.infolist(), key=lambda each: each.header_offset):
            if member.header_offset < end:
                raise damage(path, f"its members {last} and {member.filename} overlap")
            end, last = member.header_offset + LOCAL_HEADER.size + member.compress_size, member.filename
    except (RocmSdkError, *DAMAGE, OSError) as error:
        raise of_reading(path, error, "no usable zip file") from error
    return archive


class Swelling:
    """The refusal of members that swell from a few bytes: 4 MB of zeros would take as long as 4 GB of code."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._packed = self._plain = 0  # bytes of the members that are read

    def count(self, member: zipfile.ZipInfo, name: str) -> None:
        """Count a member that is to be read. Raise BadArchiveError, for the archive if all members are too much."""
        self._packed += member.compress_size
        self._plain += member.file_size
        refuse_swollen(name, "it unpacks to", member.compress_size, member.file_size)
        refuse_swollen(self._path, "the members that are read unpack to at least", self._packed, self._plain)


def refuse_swollen(name: str, what: str, packed: int, plain: int) -> None:
    """Raise BadArchiveError if too many bytes would be unpacked from too few."""
    if plain > max(packed * _READ_RATIO, _ANY_RATIO_UP_TO):
        raise unread(name, f"{what} {plain} bytes, more than {_READ_RATIO} times its {packed}, and than 64 MB")


def _check_directory(file: BinaryIO, path: str) -> None:
    """Refuse a list of members that would fill the memory: zipfile reads all of it, and makes an object of each.

    The list is found as zipfile finds it.
    """
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT - _LOCATOR_SIZE))
    tail = file.read()
    at = len(tail) - _END_SIZE
    if not (at >= 0 and tail.startswith(_END, at) and tail.endswith(b"\0\0")):
        at = tail.rfind(_END)
    if at < 0:
        raise damage(path, "no usable zip file: it has no list of members; is it complete?")
    listed = struct.unpack_from("<L", tail, at + 12)[0] if at + _END_SIZE <= len(tail) else 0
    end = start + at
    locator = tail[at - _LOCATOR_SIZE : at] if at >= _LOCATOR_SIZE else b""
    if locator.startswith(_LOCATOR):
        place = end - _LOCATOR_SIZE - _END_64_SIZE
        record = file.read(_END_64_SIZE) if place >= 0 and file.seek(place) == place else b""
        if len(record) == _END_64_SIZE and record.startswith(_END_64):
            listed, end = struct.unpack_from("<Q", record, 40)[0], place
    if listed > min(_LARGEST_DIRECTORY, end):
        raise damage(
            path, f"its list of members would have {listed} bytes, more than any wheel has or than it can hold"
        )
    if listed > _MEMBER_LIMIT * _ENTRY_SIZE:
        file.seek(end - listed)
        _refuse_many(file.read(listed), path)


def _refuse_many(directory: bytes, path: str) -> None:
    at = count = 0
    while at + _ENTRY_SIZE <= len(directory):
        at += _ENTRY_SIZE + sum(struct.unpack_from("<HHH", directory, at + 28))
        count += 1
        if count > _MEMBER_LIMIT:
            raise damage(path, f"it has more than {_MEMBER_LIMIT} members, more than any wheel has")
