"""The bytes of a new file as pieces of open files: the kernel copies bytes that are kept, no memory holds them."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import Piece, read_range, write_all

_CHUNK = 1 << 20
_FICLONE = 0x40049409  # linux/fs.h
# Errors of copy_file_range if the files are on different file systems, or on one that does not support it.
_NOT_THERE = (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)


def clone(source: int, target: int) -> bool:
    """Make an open, empty file share the data of another one until either is written; return False if that fails."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def copy_whole(source: int, target: int, size: int, path: str) -> None:
    """Copy a file of `size` bytes to an open, empty file; `path` is the name of the source in errors."""
    if not clone(source, target):
        write_pieces(target, [Piece(0, source, 0, size)], path)


def write_pieces(descriptor: int, pieces: Iterable[Piece], path: str) -> None:
    """Copy each piece to its place in the file that is open for writing.

    `path` is the name of the original in errors. Raise RewriteError if the original became shorter.
    """
    for piece in pieces:
        _copy(descriptor, piece, path)


def _copy(descriptor: int, piece: Piece, path: str) -> None:
    done = 0
    while done < piece.size:
        try:
            count = os.copy_file_range(
                piece.descriptor, descriptor, piece.size - done, piece.offset + done, piece.target + done
            )
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
            count = _copy_by_hand(descriptor, piece, done)
        if count == 0:
            raise refusal(path, "it became shorter while it was read")
        done += count


def _copy_by_hand(descriptor: int, piece: Piece, done: int) -> int:
    data = os.pread(piece.descriptor, min(_CHUNK, piece.size - done), piece.offset + done)
    write_all(descriptor, data, piece.target + done)
    return len(data)


def read_pieces(pieces: Iterable[Piece], path: str) -> Iterator[bytes]:
    """Yield the bytes that pieces make, in chunks, with the zero bytes between the pieces.

    The pieces must be in order.
    """
    position = 0
    for piece in pieces:
        yield from _zeros(piece.target - position)
        yield from read_range(piece.descriptor, piece.offset, piece.size, path)
        position = piece.target + piece.size


def _zeros(size: int) -> Iterator[bytes]:
    for start in range(0, size, _CHUNK):
        yield bytes(min(_CHUNK, size - start))


def have_same_bytes(one: tuple[int, int], other: tuple[int, int], size: int) -> bool:
    """Return whether two ranges, each (descriptor, offset), hold the same `size` bytes."""
    for start in range(0, size, _CHUNK):
        count = min(_CHUNK, size - start)
        left = os.pread(one[0], count, one[1] + start)
        if len(left) != count or left != os.pread(other[0], count, other[1] + start):
            return False
    return True
