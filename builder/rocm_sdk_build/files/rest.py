"""What a copy lacks that has a hole where the GPU code is; the bytes come from the original."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_CHUNK = 1 << 20


class Rest(NamedTuple):
    """What a copy lacks: bytes [start, end) of its original."""

    original: Path
    start: int
    end: int


def complete(copy: Path, rest: Rest) -> None:
    """Gives a copy what it lacks."""
    with rest.original.open("rb") as source, copy.open("r+b") as target:
        copy_range(source, target, rest.start, rest.end)


def read_in_chunks(copy: Path, rest: Rest | None) -> Iterator[bytes]:
    """The content of a copy as if it were whole."""
    with copy.open("rb") as file:
        if rest is None:
            yield from _chunks(file, 0, None)
            return
        yield from _chunks(file, 0, rest.start)
        with rest.original.open("rb") as original:
            yield from _chunks(original, rest.start, rest.end)
        yield from _chunks(file, rest.end, None)


def copy_range(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    """Copies bytes [start, end) to the same place of another file."""
    target.seek(start)
    target.writelines(_chunks(source, start, end))


def _chunks(file: BinaryIO, start: int, end: int | None) -> Iterator[bytes]:
    file.seek(start)
    while chunk := file.read(_CHUNK if end is None else min(_CHUNK, end - file.tell())):
        yield chunk
