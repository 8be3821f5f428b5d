"""The writer of a file's code objects, each into a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.input_file import InputFile, open_input
from rocm_sdk_build.base.named_directory import output_directory
from rocm_sdk_build.base.new_file import new_file
from rocm_sdk_build.base.pieces import Piece

from .bundles import Entry, read_bundle, read_code
from .file_pieces import write_pieces
from .scratch import Scratch

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle

_SUFFIXES = {b"\x7fELF": "co", b"BC\xc0\xde": "bc", b"\x03\x02\x23\x07": "spv"}  # by the first bytes
_UNSAFE = str.maketrans({"/": "_", "\0": "_"})


class Extracted(NamedTuple):
    """A code object that was written."""

    path: str
    id: str  # ID of the entry in its bundle
    size: int


def extract_code(path: str, directory: str, *, any_ratio: bool = False) -> list[Extracted]:
    """Write each image of the file as `<file>.<number of its bundle>.<ID>.<kind>` into a directory, which is made.

    With `any_ratio` also images of a bundle are written that becomes many times as large. A failure leaves no file.

    Raise RewriteError if a file exists already, or if the code cannot be read in full. Raise PackagingError if
    something else has the name of the directory, and OSError if a file cannot be read or written.
    """
    with open_input(path) as source:
        code = read_code(source.descriptor, path)
        if not code.bundles:
            raise refusal(path, "it has no GPU code")
        found = []
        with output_directory(Path(directory)), ExitStack() as undone:
            for number, bundle in enumerate(code.bundles):
                with Scratch(directory) as scratch:
                    for entry in _entries(source, bundle, scratch, any_ratio=any_ratio):
                        place = _place(directory, path, number, entry)
                        _write(source, entry, place)
                        undone.callback(Path(place).unlink, missing_ok=True)
                        found.append(Extracted(place, entry.name, entry.size))
            undone.pop_all()
        return found


def _entries(source: InputFile, bundle: DeviceBundle, scratch: Scratch, *, any_ratio: bool) -> Iterator[Entry]:
    """Yield the entries of a bundle that are images with code."""
    names = {image.id or "" for image in bundle.images}
    for entry in read_bundle(source.descriptor, bundle, source.path, scratch, any_ratio=any_ratio).entries:
        if entry.size and (entry.name if bundle.container != "none" else "") in names:
            yield entry


def _write(source: InputFile, entry: Entry, place: str) -> None:
    """Write a new file with an entry.

    Raise RewriteError if the file is there.
    """
    if os.path.lexists(place):
        raise refusal(source.path, f"{place} exists; code is extracted into a directory that does not have it")
    with new_file(place) as new:
        write_pieces(new, [Piece(0, entry.descriptor, entry.offset, entry.size)], source.path)
        source.refuse_changed()


def _place(directory: str, path: str, number: int, entry: Entry) -> str:
    suffix = _SUFFIXES.get(os.pread(entry.descriptor, 4, entry.offset), "bin")
    return os.path.join(directory, f"{os.path.basename(path)}.{number}.{entry.name.translate(_UNSAFE)}.{suffix}")
