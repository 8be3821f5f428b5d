"""The writer of offload bundles, not compressed and compressed (CCOB).

Source: clang's "Clang Offload Bundler".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.pieces import Piece

from .bundles import ENTRY, FIXED, HEADERS, MAGIC, NEWEST, Bundle, Entry
from .compression import bundle_hash, compressed
from .elf64 import align_up
from .file_pieces import read_pieces
from .scratch import Scratch

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle, DeviceImage

# A compressor holds up to 128 MB of a large bundle, to find repetitions that are far away.
_WORKERS = 2


def paired(found: DeviceBundle, bundle: Bundle) -> Iterator[tuple[DeviceImage, Entry]]:
    """Yield the images that the extension found, with their entries."""
    entries = {entry.name: entry for entry in bundle.entries}
    for image in found.images:
        if image.id is None:
            yield image, bundle.entries[0]
        elif image.id in entries:
            yield image, entries[image.id]


def place_in_row(places: Iterable[tuple[int, int]]) -> tuple[list[int], int]:
    """Return the offsets of things that lie one behind another, and the end.

    `places` has the alignment and size of each thing.
    """
    offsets, position = [], 0
    for align, size in places:
        position = align_up(position, align)
        offsets.append(position)
        position += size
    return offsets, position


class NewBundle(NamedTuple):
    """The bytes of a bundle that was put together."""

    pieces: tuple[Piece, ...]
    size: int
    plain_size: int


def build_plain(entries: Iterable[Entry], scratch: Scratch) -> NewBundle:
    """Return a bundle that is not compressed; its header is added to `scratch`."""
    kept = tuple(entries)
    header_size = FIXED.size + sum(ENTRY.size + len(entry.id) for entry in kept)
    header = bytearray(FIXED.pack(MAGIC, len(kept)))
    position = header_size
    has_code = any(entry.size for entry in kept)  # without code, the host's entry must lie in the bundle, too
    places: dict[object, int] = {}
    pieces: list[Piece] = []
    for entry in kept:
        place = entry[1:]
        offset = align_up(position, entry.align) if has_code else position
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


class Packing(NamedTuple):
    """A bundle that is to be compressed, with the form."""

    plain: NewBundle
    version: int  # version of the format
    method: int


def build_compressed(wanted: Sequence[Packing], path: str, scratch: Scratch) -> list[NewBundle]:
    """Return the bundles compressed; their bytes are added to `scratch`.

    Two tasks compress and hash a bundle, and each reads the bundle for itself: the second reading takes a twentieth of
    their time.
    """
    given_up = Event()
    with ThreadPoolExecutor(_WORKERS) as pool:
        try:
            tasks = [
                (
                    each,
                    pool.submit(_compress, each, path, scratch, scratch.reserve(_room(each)), given_up),
                    pool.submit(bundle_hash, _read(each.plain, path, given_up)),
                )
                for each in wanted
            ]
            return [_with_header(each, made.result(), digest.result(), path, scratch) for each, made, digest in tasks]
        except BaseException:
            given_up.set()  # each task ends at its next piece
            raise


def _room(wanted: Packing) -> int:
    """Return the limit of a compressed bundle's size in bytes.

    Both methods store data that does not become smaller, in blocks.
    """
    size = wanted.plain.size
    return HEADERS[wanted.version].size + size + size // 64 + (1 << 12)


def _read(plain: NewBundle, path: str, given_up: Event) -> Iterator[bytes]:
    for piece in read_pieces(plain.pieces, path):
        if given_up.is_set():
            return
        yield piece


def _compress(wanted: Packing, path: str, scratch: Scratch, start: int, given_up: Event) -> NewBundle:
    """Write the compressed bytes behind the place of the header."""
    plain, size = wanted.plain, HEADERS[wanted.version].size
    for packed in compressed(_read(plain, path, given_up), plain.size, wanted.method, path):
        if size + len(packed) > _room(wanted):
            raise AssertionError(f"{path}: {plain.size} bytes take more room than they may when they are compressed")
        scratch.write(packed, start + size)
        size += len(packed)
    return NewBundle((Piece(0, scratch.descriptor, start, size),), size, plain.size)


def _with_header(wanted: Packing, made: NewBundle, digest: bytes, path: str, scratch: Scratch) -> NewBundle:
    size, plain_size, version = made.size, made.plain_size, wanted.version
    if version != NEWEST and max(size, plain_size) >= 1 << 32:
        raise refusal(path, f"a bundle of {plain_size} bytes is too large for version {version} of its format")
    fields = {1: (plain_size,), 2: (size, plain_size), 3: (size, plain_size)}[version]
    header = HEADERS[version].pack(b"CCOB", version, wanted.method, *fields, digest)
    scratch.write(header, made.pieces[0].offset)
    return made
