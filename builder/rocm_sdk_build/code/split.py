"""Libraries without their GPU code, which goes to kpack archives, one for each processor. Source: rocm-kpack.

HIP finds the archives by the marker in the place of the code. Only runtimes that were built with librocm_kpack do so:
others say that such a library has no code for any GPU.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.fit.code.note import Step
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk_build.base.digest import sha256_of_chunks
from rocm_sdk_build.base.input_file import open_input
from rocm_sdk_build.base.new_file import new_file
from rocm_sdk_build.base.pieces import read_range

from .bundles import Entry, read_bundle, read_code
from .compression import ZSTD, decompressed
from .host_file import addresses_of, write_split_file
from .kpack import Archive, NewArchive, pack, read_archive
from .new_bundles import paired
from .new_note import pack_history
from .rewrite import history_of, open_host_file
from .scratch import Scratch
from .verification import refuse_without_proc, verify_host_file

if TYPE_CHECKING:
    from rocm_sdk import DeviceImage

_CODE_OBJECT = b"\x7fELF"
_GENERIC = "-generic"


class Place(NamedTuple):
    """The names by which HIP finds the code of a library."""

    name: str  # name of its kernels in archives, without the number of the bundle: its path below the prefix
    archives: str  # path from the directory of the library, with `@GFXARCH@` for the target

    def marker(self) -> bytes:
        """Return the content of the section `.rocm_kpack_ref`."""
        return pack({"kernel_name": self.name, "kpack_search_paths": [self.archives]})


class _Open(NamedTuple):
    """An archive that is being written."""

    path: str
    descriptor: int
    new: NewArchive
    table: dict[str, dict[str, dict[str, object]]]  # the field `toc`
    digests: dict[tuple[str, str], str]  # (key, target) -> SHA-256 of the code object


class CodeArchives:
    """New archives `GROUP_PROCESSOR.kpack` with the code of several libraries; the end of the block closes them."""

    def __init__(self, directory: str, group: str, is_compressed: bool) -> None:
        self._directory, self._group, self._is_compressed = directory, group, is_compressed
        self._open: dict[str, _Open] = {}  # by processor
        self._files = contextlib.ExitStack()

    def __enter__(self) -> CodeArchives:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, key: str, target: str, entry: Entry, path: str) -> None:
        """Take a code object; `path` is the name of its library in errors."""
        archive = self._archive(target.partition(":")[0])
        digest = hashlib.sha256()
        chunks = _hashed(read_range(entry.descriptor, entry.offset, entry.size, path), digest)
        number = archive.new.add(chunks, entry.size, path)
        archive.table.setdefault(key, {})[target] = {"type": "hsaco", "ordinal": number, "original_size": entry.size}
        archive.digests[key, target] = digest.hexdigest()

    def _archive(self, processor: str) -> _Open:
        if processor not in self._open:
            path = os.path.join(self._directory, f"{self._group}_{processor}.kpack")
            output = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            self._files.callback(os.close, output)
            self._open[processor] = _Open(path, output, NewArchive(output, self._is_compressed), {}, {})
        return self._open[processor]

    def finish(self) -> dict[str, str]:
        """Complete the archives, and read them back; return the path of each processor's archive.

        Raise RewriteError (E-CODE-013) if an archive differs from its input.
        """
        for processor, archive in self._open.items():
            targets = sorted({target for _, target in archive.digests})
            facts = {"format_version": 1, "group_name": self._group, "gfx_arch_family": processor}
            contents = {**facts, "gfx_arches": targets, "toc": archive.table}
            archive.new.finish({name: [pack(value)] for name, value in contents.items()})
            _verify(read_archive(archive.descriptor, archive.path), archive.digests, self._is_compressed)
        return {processor: archive.path for processor, archive in sorted(self._open.items())}


def _hashed(chunks: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def _verify(archive: Archive, digests: dict[tuple[str, str], str], is_compressed: bool) -> None:
    kernels = {(kernel.key, kernel.target): kernel.ordinal for kernel in archive.kernels()}
    if kernels.keys() != digests.keys():
        raise refusal(archive.path, "its kernels are not those that were asked for", "E-CODE-013")
    for place, number in kernels.items():
        offset, size = archive.blobs.offsets[number], archive.blobs.sizes[number]
        chunks = read_range(archive.descriptor, offset, size, archive.path)
        digest = sha256_of_chunks(decompressed(chunks, ZSTD, archive.path) if is_compressed else chunks)
        if digest.hexdigest() != digests[place]:
            raise refusal(archive.path, f"the code of {place[0]} for {place[1]} differs", "E-CODE-013")


def split_file(path: str, output: str, place: Place, archives: CodeArchives) -> None:
    """Write the library or program `path` as `output`, without its code, which is added to the archives.

    Raise RewriteError if the file cannot be split (E-CODE-010), and then add nothing. Raise RewriteError (E-CODE-013)
    if the new file fails its verification, and OSError if a file cannot be read or written.
    """
    with contextlib.ExitStack() as block:
        opened = block.enter_context(open_input(path))
        source = opened.descriptor
        code = read_code(source, path)
        host = open_host_file(source, path)
        addresses = addresses_of(host, code.bundles)
        if {wrapper.bundle for wrapper in host.wrappers} != set(addresses):
            raise refusal(path, "no wrapper leads to one of its bundles")
        scratch = block.enter_context(Scratch(os.path.dirname(os.path.abspath(output))))
        kernels = []
        in_order = sorted(zip(addresses, code.bundles, strict=True), key=itemgetter(0))
        for number, (_, found) in enumerate(in_order):
            images = [
                (image.target, entry) for image, entry in paired(found, read_bundle(source, found, path, scratch))
            ]
            _refuse_others(found.images, images, path)
            kernels += [(f"{place.name}#{number}", target, entry) for target, entry in images]
        if not kernels:
            raise refusal(path, "it has no code for a GPU")
        refuse_without_proc(output)
        new = block.enter_context(new_file(output, opened))
        targets = tuple(sorted({target for _, target, _ in kernels}))
        history = history_of(code, source, (Step("split", targets),))
        write_split_file(host, place.marker(), pack_history(history), new)
        verify_host_file(host, new, read_code(new, path), history, check_loading=True, marker=place.marker())
        for key, target, entry in kernels:
            archives.add(key, target, entry, path)


def _refuse_others(found: tuple[DeviceImage, ...], images: list[tuple[str, Entry]], path: str) -> None:
    """Raise RewriteError unless all images are code objects for one processor each, as archives need them."""
    targets = {target for target, _ in images}
    if len(targets) != len(found):
        raise refusal(path, "a bundle has several codes for one target")
    for target, entry in images:
        if target.partition(":")[0].endswith(_GENERIC) or os.pread(entry.descriptor, 4, entry.offset) != _CODE_OBJECT:
            raise refusal(path, f"its code for {target} is not for one processor")
