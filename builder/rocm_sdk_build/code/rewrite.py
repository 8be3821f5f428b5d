"""The maker of files that hold only the GPU code that is needed.

Originals are never changed, and nothing half-written stays.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.errors import RewriteError, UnknownTargetError
from rocm_sdk.fit.code.note import History, Step, parse_history
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.installed.readers import target_id
from rocm_sdk.targets import table
from rocm_sdk_build.base.digest import sha256_of_chunks
from rocm_sdk_build.base.input_file import InputFile, open_input
from rocm_sdk_build.base.new_file import new_file, refuse_output
from rocm_sdk_build.base.pieces import read_range

from .bundles import Bundle, Entry, read_bundle, read_code
from .choice import choose_images, choose_targets
from .elf64 import ET_REL, read_elf
from .file_pieces import copy_whole, write_pieces
from .host_file import HostFile, Placed, addresses_of, read_host_file, write_host_file
from .kpack import Archive, differs, is_archive, read_archive, write_archive
from .new_bundles import NewBundle, Packing, build_compressed, build_plain, paired, place_in_row
from .new_note import pack_history
from .retarget import Pair, retargeted
from .scratch import Scratch
from .verification import Verified, WantedImage, refuse_damaged, refuse_without_proc, verify_host_file, verify_images

if TYPE_CHECKING:
    from rocm_sdk import DeviceBundle, DeviceCode, DeviceImage

_ELF, _LOOSE = "ELF file", ("offload bundle", "compressed offload bundle")
_ZSTD = 1
_VERSION = 3  # version of the compressed format for new compression, as clang writes it today
IMAGE_LIMIT = 1 << 16  # docs/limits.md has the reason
_GROWTH = 4  # the user must consent to a file that becomes larger than this many times


class NewCode(NamedTuple):
    """The code that a new file is to have."""

    gpus: tuple[str, ...] = ()  # targets whose code is kept; (): all code
    unofficial: bool = False  # keep code that only patched runtimes try on the GPUs, too
    compressed: bool | None = None  # whether bundles are compressed; None: as they are
    retarget: tuple[Pair, ...] = ()  # code that is offered for more targets, unofficially
    may_grow: bool = False  # to more than four times its size; bundles, to any
    check_loading: bool = True
    exact: bool = False  # keep no generic code for a GPU that has code of its own
    may_be_empty: bool = False  # a library without code for the GPUs loses all code, and is not refused

    def steps(self) -> tuple[Step, ...]:
        """Return the steps that the note of the file records."""
        steps = []
        if self.gpus:
            steps.append(Step("keep", self.gpus))
        steps += [Step("retarget", pair) for pair in self.retarget]
        if self.compressed is not None:
            steps.append(Step("compress" if self.compressed else "decompress", ()))
        return tuple(steps)


class Seconds(NamedTuple):
    """The duration of the work in seconds."""

    writing: float  # reading the kept parts, and writing them
    hashing: float  # hashing the whole original, for the note
    verifying: float


class Rewritten(NamedTuple):
    """The result of a rewritten file; sizes are in bytes."""

    path: str
    output: str | None  # None: nothing was written, only the size was computed
    size_before: int
    size: int
    bundle_count: int
    kept: tuple[str, ...]  # targets
    dropped: tuple[str, ...]
    loaded: bool  # the new file was loaded in a process of its own
    remark: str | None  # reason why the file was not loaded
    seconds: Seconds
    is_copy: bool = False  # all code is kept, so the file is unchanged


def rewrite_file(path: str, output: str | None, wish: NewCode) -> Rewritten:
    """Write the file `path` anew as `output`, by the wish; with None only compute the result.

    Raise RewriteError if the file cannot be rewritten (E-CODE-010), has no code for the GPUs (E-CODE-012) or fails its
    verification (E-CODE-013), and OSError if a file cannot be read or written. Then `output` is unchanged.
    """
    with open_input(path) as source:
        return rewrite_input(source, output, wish)


def rewrite_input(source: InputFile, output: str | None, wish: NewCode, *, is_synced: bool = True) -> Rewritten:
    """Write an open file anew as `output`, by the wish; see `rewrite_file`.

    `is_synced` has the meaning that new_file gives it.
    """
    path = source.path
    if output is not None:
        if os.path.exists(output) and os.path.samestat(os.stat(output), source.facts):
            raise refusal(path, "the output is the file itself; a file is never rewritten in place")
        refuse_output(output)
    code = None if is_archive(source.descriptor) else read_code(source.descriptor, path)
    directory = os.path.dirname(os.path.abspath(output)) if output is not None else tempfile.gettempdir()
    refuse_without_proc(output)
    with Scratch(directory) as scratch, new_file(output, source, is_synced=is_synced) as new:
        if code is None:
            return _rewrite_archive(read_archive(source.descriptor, path), new, output, wish)
        return _Rewriting(source, code, wish, scratch).run(new, output)


def _rewrite_archive(archive: Archive, new: int, output: str | None, wish: NewCode) -> Rewritten:
    """Make a kpack archive with fewer targets in the file that is open as `new`; the kernels stay as they are."""
    path = archive.path
    if not wish.gpus or wish.compressed is not None or wish.retarget:
        raise refusal(path, "a kpack archive can hold fewer targets (--keep), and not be changed otherwise")
    start = perf_counter()
    names = {target: _normal(target) for target in archive.targets()}
    targets = _in_order(set(names.values()))
    kept = choose_targets(targets, wish.gpus, wish.unofficial, wish.exact)
    wanted = {target for target, name in names.items() if name in kept}
    if not write_archive(archive, wanted, new):
        raise _without_code(path, targets, wish)
    size, size_before = os.fstat(new).st_size, os.fstat(archive.descriptor).st_size
    _refuse_growth(path, size_before, size, wish)
    writing = perf_counter() - start
    wrong = differs(archive, read_archive(new, path), wanted)
    if wrong is not None:
        raise refusal(path, wrong, "E-CODE-013")
    return Rewritten(
        path=path,
        output=output,
        size_before=size_before,
        size=size,
        bundle_count=1,
        kept=tuple(kept),
        dropped=tuple(target for target in targets if target not in kept),
        loaded=False,
        remark="it is not a library",
        seconds=Seconds(writing, 0.0, perf_counter() - start - writing),
    )


class _Rewriting:
    def __init__(self, source: InputFile, code: DeviceCode, wish: NewCode, scratch: Scratch) -> None:
        self.source, self.code, self.wish, self.scratch = source, code, wish, scratch
        self.path, self.descriptor = source.path, source.descriptor
        self.kept: set[str] = set()
        self.dropped_count = self.retargeted = 0
        self.wanted: list[list[WantedImage]] = []
        self.hashing = self.verifying = 0.0

    def run(self, new: int, output: str | None) -> Rewritten:
        """Make the file that is open as `new`, and verify it."""
        start = perf_counter()
        if not self.code.bundles:
            split = self.code.kernel_name is not None
            raise refusal(self.path, "its code is in kpack archives" if split else "it has no GPU code")
        count = sum(len(bundle.images) for bundle in self.code.bundles)
        if count > IMAGE_LIMIT:
            raise refusal(self.path, f"it has {count} code objects, more than the limit of {IMAGE_LIMIT}")
        host = open_host_file(self.descriptor, self.path) if self.code.kind == _ELF else None
        if host is None and self.code.kind not in _LOOSE:
            raise refusal(self.path, f"files of this kind ({self.code.kind}) are not rewritten")
        taken = [self._take(found) for found in self.code.bundles]
        if not any(self.wanted) and (host is None or not self.wish.may_be_empty):
            raise _without_code(self.path, [each.target for each in self.code.targets], self.wish)
        if self.wish.retarget and not self.retargeted:
            wanted = ", ".join(f"{pair.code} without {pair.gpu}" for pair in self.wish.retarget)
            raise refusal(self.path, f"it has no code for {wanted}")
        if not self.dropped_count and not self.retargeted and self.wish.compressed is None:
            copy_whole(self.descriptor, new, self.code.size, self.path)
            remark = "all of its code is kept"
            seconds = Seconds(perf_counter() - start, 0.0, 0.0)
            made = self._rewritten(output, self.code.size, self.kept, Verified(False, remark), seconds)
            return made._replace(is_copy=True)
        made_bundles = self._build(taken)
        pairs = [
            (found, (bundle, new_bundle))
            for found, (bundle, _), new_bundle in zip(self.code.bundles, taken, made_bundles, strict=True)
        ]
        verified = self._write_host(host, pairs, new) if host is not None else self._write_loose(pairs, new)
        size = os.fstat(new).st_size
        _refuse_growth(self.path, self.code.size, size, self.wish)
        writing = perf_counter() - start - self.hashing - self.verifying
        return self._rewritten(output, size, self.kept, verified, Seconds(writing, self.hashing, self.verifying))

    def _rewritten(
        self, output: str | None, size: int, kept: set[str], verified: Verified, seconds: Seconds
    ) -> Rewritten:
        """Return the result, with the kept and the dropped targets in the order of the file."""
        names = [each.target for each in self.code.targets]
        return Rewritten(
            path=self.path,
            output=output,
            size_before=self.code.size,
            size=size,
            bundle_count=len(self.code.bundles),
            kept=tuple(name for name in names if name in kept),
            dropped=tuple(name for name in names if name not in kept),
            loaded=verified.loaded,
            remark=verified.remark,
            seconds=seconds,
        )

    # ---- bundles ----

    def _take(self, found: DeviceBundle) -> tuple[Bundle, list[Entry]]:
        """Return a bundle, and the entries of the bundle in its place."""
        chosen: Sequence[DeviceImage] = found.images
        if self.wish.gpus:
            chosen = choose_images(found.images, self.wish.gpus, self.wish.unofficial, self.wish.exact)
        kept_images = set(map(id, chosen))
        dropped = {image.id for image in found.images} - {image.id for image in chosen}
        bundle = read_bundle(
            self.descriptor, found, self.path, self.scratch, dropped.__contains__, any_ratio=self.wish.may_grow
        )
        images = {image.id or entry.name: image for image, entry in paired(found, bundle)}
        entries = [
            entry for entry in bundle.entries if entry.name not in images or id(images[entry.name]) in kept_images
        ]
        self.kept |= {image.target for image in chosen}
        self.dropped_count += len(found.images) - len(chosen)
        for pair in self.wish.retarget:
            more = retargeted(entries, images, pair, self.path)
            images |= {entry.name: images[_name_before(entry, pair)] for entry in more}
            entries += more
            self.retargeted += len(more)
        self.wanted.append(_wanted(entries, images))
        return bundle, entries

    def _build(self, taken: Sequence[tuple[Bundle, Sequence[Entry]]]) -> list[NewBundle]:
        """Return the new bundles: all are compressed, or each is as before."""
        plain = [build_plain(entries, self.scratch) for _, entries in taken]
        packings = {
            number: Packing(new, *((bundle.version, bundle.method) if bundle.version else (_VERSION, _ZSTD)))
            for number, (new, (bundle, _)) in enumerate(zip(plain, taken, strict=True))
            if (bundle.version > 0 if self.wish.compressed is None else self.wish.compressed)
        }
        made = build_compressed([*packings.values()], self.path, self.scratch)
        compressed = dict(zip(packings, made, strict=True))
        return [compressed.get(number, new) for number, new in enumerate(plain)]

    # ---- files ----

    def _write_host(
        self, host: HostFile, pairs: Sequence[tuple[DeviceBundle, tuple[Bundle, NewBundle]]], new: int
    ) -> Verified:
        addresses = addresses_of(host, (found for found, _ in pairs))
        placed = [
            Placed(address, bundle.align, made) for address, (_, (bundle, made)) in zip(addresses, pairs, strict=True)
        ]
        history = self._history()
        write_host_file(host, placed, pack_history(history), new)
        start = perf_counter()
        code = self._verify_images(new)
        verified = verify_host_file(host, new, code, history, self.wish.check_loading)
        self.verifying = perf_counter() - start
        return verified

    def _history(self) -> History:
        """Return the history for the note of the new file."""
        start = perf_counter()
        history = history_of(self.code, self.descriptor, self.wish.steps(), self.source.sha256)
        self.hashing = perf_counter() - start
        return history

    def _write_loose(self, pairs: Sequence[tuple[DeviceBundle, tuple[Bundle, NewBundle]]], new: int) -> Verified:
        offsets, _ = place_in_row((bundle.align, made.size) for _, (bundle, made) in pairs)
        for offset, (_, (_, made)) in zip(offsets, pairs, strict=True):
            write_pieces(new, [piece.at(offset) for piece in made.pieces], self.path)
        start = perf_counter()
        self._verify_images(new)
        self.verifying = perf_counter() - start
        return Verified(False, "it is not a library")

    def _verify_images(self, new: int) -> DeviceCode:
        """Verify the images of the new file, and return its code."""
        found = read_code(new, self.path)
        with Scratch(tempfile.gettempdir()) as scratch:
            actual = []
            for each in found.bundles:
                bundle = read_bundle(new, each, self.path, scratch, any_ratio=True)
                images = {image.id or entry.name: image for image, entry in paired(each, bundle)}
                actual.append(_wanted(bundle.entries, images))
            verify_images(self.wanted, actual, self.path)
        return found


def _wanted(entries: Sequence[Entry], images: dict[str, DeviceImage]) -> list[WantedImage]:
    return [
        WantedImage(entry.name, entry.descriptor, entry.offset, entry.size, entry.changes)
        for entry in entries
        if entry.name in images
    ]


def _name_before(entry: Entry, pair: Pair) -> str:
    return entry.name.replace(pair.gpu, pair.code)


def _refuse_growth(path: str, before: int, size: int, wish: NewCode) -> None:
    if size > _GROWTH * before and not wish.may_grow:
        raise refusal(path, code="E-CODE-014", size=size, before=before)


def _without_code(path: str, targets: Iterable[str], wish: NewCode) -> RewriteError:
    return refusal(path, code="E-CODE-012", gpus=", ".join(wish.gpus), targets=", ".join(targets))


def _in_order(names: Iterable[str]) -> list[str]:
    """Return targets in the order of the table of targets; unknown ones follow by their names."""
    known = {target.name: number for number, target in enumerate(table())}
    return sorted(names, key=lambda name: (known.get(name.partition(":")[0], len(known)), name))


def _normal(target: str) -> str:
    """Return a target as the extension tells it."""
    try:
        return target_id(target)
    except UnknownTargetError:
        return target


def open_host_file(descriptor: int, path: str) -> HostFile:
    """Return the library or program that is open.

    Raise RewriteError for a file that is damaged, or has code in another form.
    """
    elf = read_elf(descriptor, path)
    if elf.type == ET_REL:
        raise refusal(path, "it is an object file, whose code gets its place when it is linked")
    refuse_damaged(elf)
    return read_host_file(elf)


def history_of(code: DeviceCode, descriptor: int, steps: tuple[Step, ...], sha256: str | None = None) -> History:
    """Return the history for the note of a new file, made by these steps from the open file.

    `sha256` is the digest of the open file, if it is known.
    """
    if code.history is not None:
        before = parse_history(code.history, code.path)
        return before._replace(steps=before.steps + steps)
    if sha256 is None:
        sha256 = sha256_of_chunks(read_range(descriptor, 0, code.size, code.path)).hexdigest()
    return History(sha256, steps)
