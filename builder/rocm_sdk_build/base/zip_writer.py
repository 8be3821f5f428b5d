"""The writer of zip archives whose members come compressed, in pieces.

The module zipfile compresses by itself, on one thread.
"""

from __future__ import annotations

import stat
import struct
import time
import zipfile
from typing import BinaryIO

_LIMIT32, _LIMIT16 = 0xFFFFFFFF, 0xFFFF
_ZIP64_LIMIT = zipfile.ZIP64_LIMIT - (1 << 24)  # data that does not get smaller gets a little larger
_CENTRAL = struct.Struct("<4s4B4HL2L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_ZIP64_FIELDS = 1  # the tag of an extra field
_VERSION, _VERSION64, _UNIX = 20, 45, 3


class ZipWriter:
    """An archive that is being written, member after member."""

    def __init__(self, file: BinaryIO, date: tuple[int, int, int, int, int, int]) -> None:
        """Begin an archive in `file`, which is new and can seek; all members have the same `date`."""
        self._file, self._date = file, date
        self._members: list[zipfile.ZipInfo] = []
        self._is_large = False  # whether the current member is large

    def begin(self, name: str, size: int, is_program: bool, method: int) -> None:
        """Start a member of about this size."""
        member = zipfile.ZipInfo(name, self._date)
        member.create_system = _UNIX
        member.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
        member.compress_type, member.CRC = method, 0
        # Without the flag Python 3.14 writes names in code page 437, which the directory of the archive does not.
        member.flag_bits = _encoded(name)[1]
        member.header_offset = self._file.tell()
        self._is_large = size > _ZIP64_LIMIT
        self._file.write(member.FileHeader(zip64=self._is_large))
        self._members.append(member)

    def write(self, piece: bytes) -> None:
        """Write a piece of the member."""
        self._file.write(piece)
        self._members[-1].compress_size += len(piece)

    def end(self, size: int, crc: int) -> None:
        """Record size and CRC of the member before the compression.

        Raise ValueError if a member that began as a small one is too large for its header.
        """
        member = self._members[-1]
        member.file_size, member.CRC = size, crc
        if not self._is_large and max(size, member.compress_size) > zipfile.ZIP64_LIMIT:
            raise ValueError(f"{member.filename}: grew while it was read")
        end = self._file.tell()
        self._file.seek(member.header_offset)
        self._file.write(member.FileHeader(zip64=self._is_large))
        self._file.seek(end)

    def finish(self, comment: bytes = b"") -> None:
        """Write the directory of the archive."""
        start = self._file.tell()
        for member in self._members:
            self._file.write(_central(member))
        size = self._file.tell() - start
        count = len(self._members)
        if count >= _LIMIT16 or start >= _LIMIT32 or size >= _LIMIT32:
            end = self._file.tell()
            rest = _END64.size - 12
            self._file.write(
                _END64.pack(b"PK\6\6", rest, _VERSION64, _VERSION64, 0, 0, count, count, size, start)
                + _LOCATOR64.pack(b"PK\6\7", 0, end, 1)
            )
        counts = (min(count, _LIMIT16), min(count, _LIMIT16))
        places = (min(size, _LIMIT32), min(start, _LIMIT32), len(comment))
        self._file.write(_END.pack(b"PK\5\6", 0, 0, *counts, *places) + comment)


def _central(member: zipfile.ZipInfo) -> bytes:
    """Return the member's entry in the directory."""
    values = (member.file_size, member.compress_size, member.header_offset)
    large = [value for value in values if value >= _LIMIT32]
    extra = struct.pack(f"<2H{len(large)}Q", _ZIP64_FIELDS, 8 * len(large), *large) if large else b""
    size, packed, offset = (min(value, _LIMIT32) for value in values)
    name, flags = _encoded(member.filename)
    version = _VERSION64 if large else _VERSION
    year, month, day, hour, minute, second = member.date_time
    head = (b"PK\1\2", version, _UNIX, version, 0, flags, member.compress_type)
    date = (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
    sizes = (member.CRC, packed, size, len(name), len(extra), 0, 0, 0, member.external_attr, offset)
    return _CENTRAL.pack(*head, *date, *sizes) + name + extra


def _encoded(name: str) -> tuple[bytes, int]:
    """Return the encoded name, and the flag that says that the name is UTF-8, or 0."""
    try:
        return name.encode("ascii"), 0
    except UnicodeEncodeError:
        return name.encode("utf-8"), 0x800


def date_of(seconds: int) -> tuple[int, int, int, int, int, int]:
    """Return a time as members have it, in UTC."""
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    return year, month, day, hour, minute, second
