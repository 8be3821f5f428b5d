"""The compression of data by blocks, on several threads, into one deflate stream (RFC 1951).

libdeflate compresses better and faster than zlib, but only whole buffers. Each block is a stream of its own, whose last
part says so in one bit (BFINAL). `compress_block` clears that bit, and appends an empty stored part, which ends with a
whole byte: so the next block continues the stream. zlib, which decompresses each block to compare it, tells where the
bit is. The number of threads changes no byte.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any, NamedTuple

import deflate

from rocm_sdk_build.base.errors import PackagingError

BLOCK = 1 << 20  # bytes that are compressed together
_LEVEL = 6
_Z_OK, _Z_STREAM_END, _Z_BLOCK = 0, 1, 5
_RAW = -15  # window bits of a stream without header
_UNUSED_BITS, _IN_LAST_PART = 63, 64  # bits of data_type
_HEADER_BITS = 3  # bits at the start of a part
_EMPTY_STORED_PART = b"\0\0\xff\xff"  # length and complement; the three bits before are in the last byte
_LIBRARY = "libz.so.1"


def compress_block(data: bytes, is_last: bool) -> bytes:
    """Return the piece of a stream for at most BLOCK bytes; the last piece ends the stream.

    Raise PackagingError if zlib does not decompress the piece to the same bytes.
    """
    packed: bytearray = deflate.deflate_compress(data, _LEVEL)
    end = _look_at(bytes(packed), data)
    if not is_last:
        packed[end.last_part >> 3] &= ~(1 << (end.last_part & 7))
        if end.unused_bits < _HEADER_BITS:
            packed.append(0)
        packed += _EMPTY_STORED_PART
    return bytes(packed)


class _End(NamedTuple):
    """The end of a stream."""

    last_part: int  # the bit with which its last part begins
    unused_bits: int  # unused bits of the last byte


class _Stream(ctypes.Structure):
    """The structure z_stream of zlib.h."""

    _fields_ = (
        ("next_in", ctypes.c_void_p),
        ("avail_in", ctypes.c_uint),
        ("total_in", ctypes.c_ulong),
        ("next_out", ctypes.c_void_p),
        ("avail_out", ctypes.c_uint),
        ("total_out", ctypes.c_ulong),
        ("msg", ctypes.c_char_p),
        ("state", ctypes.c_void_p),
        ("zalloc", ctypes.c_void_p),
        ("zfree", ctypes.c_void_p),
        ("opaque", ctypes.c_void_p),
        ("data_type", ctypes.c_int),
        ("adler", ctypes.c_ulong),
        ("reserved", ctypes.c_ulong),
    )


class _Room(threading.local):
    """The memory into which a thread decompresses its blocks.

    New memory for each block would take half as long as the decompression.
    """

    def __init__(self) -> None:
        self.content = bytearray(BLOCK + 1)
        self._kept = (ctypes.c_char * len(self.content)).from_buffer(self.content)  # a reference keeps the memory there
        self.address = ctypes.addressof(self._kept)


_room = _Room()


def _look_at(packed: bytes, data: bytes) -> _End:
    """Decompress a block, compare the result with the data of the block, and return the end of the stream.

    Raise PackagingError if the two differ.
    """
    zlib = _zlib()
    stream = _Stream()
    stream.next_in, stream.avail_in = ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p), len(packed)
    stream.next_out, stream.avail_out = _room.address, len(data) + 1
    if zlib.inflateInit2_(ctypes.byref(stream), _RAW, zlib.zlibVersion(), ctypes.sizeof(stream)) != _Z_OK:
        raise MemoryError
    try:
        last_part = end = 0
        while (status := zlib.inflate(ctypes.byref(stream), _Z_BLOCK)) == _Z_OK:  # stops behind each part
            end = stream.total_in * 8 - (stream.data_type & _UNUSED_BITS)
            last_part = last_part if stream.data_type & _IN_LAST_PART else end
    finally:
        zlib.inflateEnd(ctypes.byref(stream))
    is_same = stream.total_out == len(data) and _room.content.startswith(data)  # compares without a copy
    if status != _Z_STREAM_END or stream.avail_in or not is_same:
        raise PackagingError("libdeflate has compressed a block that zlib does not read as it was")
    return _End(last_part, len(packed) * 8 - end)


@functools.cache
def _zlib() -> Any:
    """Return the library zlib itself, since Python's module does not tell where parts begin.

    Raise PackagingError if the system has no zlib.
    """
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise PackagingError(f"{_LIBRARY}: {error}", "install zlib (zlib1g, zlib)") from error
    library.zlibVersion.restype = ctypes.c_char_p
    library.inflateInit2_.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
    library.inflate.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.inflateEnd.argtypes = [ctypes.c_void_p]
    return library
