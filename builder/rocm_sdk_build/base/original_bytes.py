"""The bytes that a copy lacks where its original has the GPU code; these bytes come from the original."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .input_file import open_input

_CHUNK = 1 << 20


class Rest(NamedTuple):
    """The bytes [start, end) of the original, which its copy lacks."""

    original: Path
    start: int
    end: int


def complete(copy: Path, rest: Rest) -> None:
    """Write to a copy the bytes that it lacks."""
    with rest.original.open("rb") as source, copy.open("r+b") as target:
        copy_range(source, target, rest.start, rest.end)


def read_in_chunks(copy: Path, rest: Rest | None) -> Iterator[bytes]:
    """Yield the content of a copy as if the copy were whole.

    Raise ChangedInputError if the copy or its original changes meanwhile.
    """
    with open_input(str(copy)) as source:
        if rest is None:
            yield from _chunks(source.file, 0, None)
        else:
            yield from _chunks(source.file, 0, rest.start)
            with open_input(str(rest.original)) as original:
                yield from _chunks(original.file, rest.start, rest.end)
                original.refuse_changed()
            yield from _chunks(source.file, rest.end, None)
        source.refuse_changed()


def copy_range(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    """Copy bytes [start, end) to the same place of another file."""
    target.seek(start)
    target.writelines(_chunks(source, start, end))


def _chunks(file: BinaryIO, start: int, end: int | None) -> Iterator[bytes]:
    file.seek(start)
    while chunk := file.read(_CHUNK if end is None else min(_CHUNK, end - file.tell())):
        yield chunk
