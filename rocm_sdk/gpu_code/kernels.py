"""The kernels of a file of GPU code, as the metadata of its code objects describes them.

Source: LLVM's AMDGPUUsage, "Code Object Metadata". Version 2 has YAML, of which only the names of kernels are read.
Versions 3 and newer have msgpack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .bundles import Entry, read_bundle, read_code
from .code_object import Note, read_header, read_notes
from .msgpack import unpack
from .refusal import refusal
from .scratch import Scratch

_VERSION_2, _VERSION_3 = (b"AMD\0", 10), (b"AMDGPU\0", 32)  # owner and type of the notes
_NAME_IN_TEXT = "  - Name:"


class Kernel(NamedTuple):
    """A kernel of a code object."""

    target: str
    bundle: int  # number of its bundle in the file
    name: str  # as the compiler writes it: mangled, if it is C++
    metadata: dict[str, object]  # what describes it: ".vgpr_count", ".args", ...; {} in version 2


def kernels_in(path: str, directory: str) -> Iterator[Kernel]:
    """The kernels of each code object of a file, in their order. directory: for what has to be decompressed.

    Raises RewriteError for a code object that is damaged, BadLibraryError for a file that is, and OSError.
    """
    with open(path, "rb", buffering=0) as source:
        for number, bundle in enumerate(read_code(source.fileno(), path).bundles):
            targets = {image.id or "": image.target for image in bundle.images}
            with Scratch(directory) as scratch:
                for entry in read_bundle(source.fileno(), bundle, path, scratch).entries:
                    target = targets.get(entry.name if bundle.container != "none" else "")
                    if target is None or read_header(entry) is None:
                        continue
                    for name, metadata in _kernels_of(entry, path):
                        yield Kernel(target, number, name, metadata)


def _kernels_of(entry: Entry, path: str) -> Iterator[tuple[str, dict[str, object]]]:
    for note in read_notes(entry, path):
        if (note.owner, note.type) == _VERSION_3:
            yield from _described(note, path)
        elif (note.owner, note.type) == _VERSION_2:
            for line in note.description.decode(errors="replace").splitlines():
                if line.startswith(_NAME_IN_TEXT):
                    yield line[len(_NAME_IN_TEXT) :].strip().strip("'\""), {}


def _described(note: Note, path: str) -> Iterator[tuple[str, dict[str, object]]]:
    try:
        document = unpack(note.description)
    except ValueError as error:
        raise refusal(path, f"the metadata of a code object is damaged: {error}") from error
    kernels = document.get("amdhsa.kernels") if isinstance(document, dict) else None
    for each in kernels if isinstance(kernels, list) else ():
        if isinstance(each, dict) and isinstance(name := each.get(".name"), str):
            yield name, each
