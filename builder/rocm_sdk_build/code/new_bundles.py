"""Puts offload bundles together, not compressed and compressed (CCOB).

Source: clang's "Clang Offload Bundler".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.gpu_code.refusal import refusal

from .bundles import ENTRY, FIXED, HEADERS, MAGIC, NEWEST, Bundle, Entry
from .compressing import compressed
from .compression import BundleHash
from .copying import read_pieces
from .pieces import Piece
from .scratch import Scratch

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle, DeviceImage


def paired(found: DeviceBundle, bundle: Bundle) -> Iterator[tuple[DeviceImage, Entry]]:
    """The images that the extension found, with their entries."""
    entries = {entry.name: entry for entry in bundle.entries}
    for image in found.images:
        if image.id is None:
            yield image, bundle.entries[0]
        elif image.id in entries:
            yield image, entries[image.id]


def place_in_row(places: Iterable[tuple[int, int]]) -> tuple[list[int], int]:
    """The offsets of things that lie one behind another, and the end. places: alignment and size of each."""
    offsets, position = [], 0
    for align, size in places:
        position = -(-position // align) * align
        offsets.append(position)
        position += size
    return offsets, position


class NewBundle(NamedTuple):
    """The bytes of a bundle that was put together."""

    pieces: tuple[Piece, ...]
    size: int
    plain_size: int


def build_plain(entries: Iterable[Entry], scratch: Scratch) -> NewBundle:
    """A bundle that is not compressed; its header is added to `scratch`."""
    kept = tuple(entries)
    header_size = FIXED.size + sum(ENTRY.size + len(entry.id) for entry in kept)
    header = bytearray(FIXED.pack(MAGIC, len(kept)))
    position = header_size
    has_code = any(entry.size for entry in kept)  # without, the place of the host's entry must lie in the bundle, too
    places: dict[object, int] = {}
    pieces: list[Piece] = []
    for entry in kept:
        place = entry[1:]
        offset = -(-position // entry.align) * entry.align if has_code else position
        if place not in places:
            places[place] = offset
            if entry.size:
                pieces += _pieces_of(entry, offset, scratch)
                position = offset + entry.size
        header += ENTRY.pack(places[place], entry.size, len(entry.id)) + entry.id
    start = scratch.add(bytes(header))
    return NewBundle((Piece(0, scratch.descriptor, start, len(header)), *pieces), position, position)


def _pieces_of(entry: Entry, target: int, scratch: Scratch) -> Iterator[Piece]:
    done = 0
    for change in sorted(entry.changes):
        yield Piece(target + done, entry.descriptor, entry.offset + done, change.offset - done)
        start = scratch.add(change.data)
        yield Piece(target + change.offset, scratch.descriptor, start, len(change.data))
        done = change.offset + len(change.data)
    yield Piece(target + done, entry.descriptor, entry.offset + done, entry.size - done)


def build_compressed(plain: NewBundle, version: int, method: int, path: str, scratch: Scratch) -> NewBundle:
    """The same compressed, in the version of the format that it had; its bytes are added to `scratch`."""
    layout = HEADERS[version]
    start = scratch.add(bytes(layout.size))
    size = layout.size
    with BundleHash() as hashed:
        pieces = hashed.passing(read_pieces(plain.pieces, path))
        for packed in compressed(pieces, plain.size, method, path):
            scratch.add(packed)
            size += len(packed)
        digest = hashed.value()
    if version != NEWEST and max(size, plain.size) >= 1 << 32:
        raise refusal(path, f"a bundle of {plain.size} bytes is too large for version {version} of its format")
    fields = {1: (plain.size,), 2: (size, plain.size), 3: (size, plain.size)}[version]
    scratch.write(memoryview(layout.pack(b"CCOB", version, method, *fields, digest)), start)
    return NewBundle((Piece(0, scratch.descriptor, start, size),), size, plain.size)
