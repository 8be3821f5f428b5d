"""GPU code for single targets: the targets of loose files, and libraries with only the code of a family."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import RocmSdkError, device_code
from rocm_sdk.fit.code.candidate import may_have_code
from rocm_sdk.installed.readers import compatibility, target_in_name
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.choice import choose_images
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
from rocm_sdk_build.inputs.catalog import Entry
from rocm_sdk_build.inputs.file_kind import Kind, look_at

if TYPE_CHECKING:
    from rocm_sdk import DeviceCode

_RUNS = ("exact", "compatible", "generic")
_NOT_REWRITTEN = "E-CODE-010"
_PROCESSOR = re.compile(r"gfx[0-9a-f]+")


def target_of(place: str) -> str | None:
    """Return the target in the name of a file or else of one of its directories, with features; None without one."""
    parts = reversed(PurePosixPath(place).parts)
    return next((target for part in parts if (target := target_in_name(part)) is not None), None)


def split(entries: Iterable[Entry]) -> tuple[list[Entry], dict[str, list[Entry]]]:
    """Return the entries for all targets, and for each base target the entries for this target alone."""
    neutral: list[Entry] = []
    single: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        target = None if entry.kind == "directory" else target_of(entry.path)
        (neutral if target is None else single[target.partition(":")[0]]).append(entry)
    return neutral, dict(single)


def targets_of(paths: Iterable[Path]) -> frozenset[str]:
    """Return the processors for which one of the files has code, without features."""
    return frozenset[str]().union(*(read_offload_targets(path) for path in paths if may_have_code(path)))


class ForFamily(NamedTuple):
    """Files with the code of one family."""

    entries: tuple[Entry, ...]
    whole: tuple[str, ...]  # libraries that keep all their code, with the reason


def for_family(libraries: Sequence[Entry], single: Sequence[Entry], gpus: tuple[str, ...], scratch: Path) -> ForFamily:
    """Return the libraries with the code that one of the GPUs runs, and the loose files for these GPUs.

    The libraries are written below the new directory `scratch`.
    """
    scratch.mkdir(parents=True)
    return _ForFamily(gpus, scratch).run(libraries, single)


class _ForFamily:
    def __init__(self, gpus: tuple[str, ...], scratch: Path) -> None:
        self.gpus, self.scratch = gpus, scratch
        self.new: dict[Path, Path | None] = {}  # file -> file in its place; None: the file goes
        self.whole: list[str] = []

    def run(self, libraries: Sequence[Entry], single: Sequence[Entry]) -> ForFamily:
        fitting = [*libraries, *(each for each in single if self._fits(each))]
        for entry in fitting:
            if entry.kind == "file":
                self._take(entry)
        return ForFamily(renewed(fitting, self.new), tuple(self.whole))

    def _fits(self, entry: Entry) -> bool:
        target = None if entry.kind == "directory" else target_of(entry.path)
        return target is None or any(runs(target, gpu) for gpu in self.gpus)

    def _take(self, entry: Entry) -> None:
        path = entry.source
        if not may_have_code(path):
            return
        bundles = code_of(path).bundles
        chosen = [choose_images(bundle.images, self.gpus, False) for bundle in bundles]
        if all(len(kept) == len(bundle.images) for kept, bundle in zip(chosen, bundles, strict=True)):
            return
        if not any(chosen):
            if look_at(path).kind is not Kind.DATA:
                self.whole.append(f"{entry.path}: none of its code is for the family")
            else:
                self.new[path] = None
            return
        output = self.scratch / str(len(self.new))
        why = why_not(path, rewrite_file, str(output), NewCode(gpus=self.gpus))
        if why is None:
            self.new[path] = output
        else:
            self.whole.append(f"{entry.path}: {why}")


def why_not(path: Path, write: Callable[..., object], *arguments: object) -> str | None:
    """Write the file anew; return the reason if the file cannot be rewritten, or None.

    Raise PackagingError for any other error.
    """
    try:
        write(str(path), *arguments)
    except RocmSdkError as error:
        if error.code != _NOT_REWRITTEN:
            raise PackagingError(error.message, error.fix or "") from error
        return error.facts["detail"]
    return None


def renewed(entries: Iterable[Entry], new: Mapping[Path, Path | None]) -> tuple[Entry, ...]:
    """Return the entries with new files, to which links lead, too.

    `new` has for each changed file the file in its place; None: the file goes.
    """
    found = ((entry, new.get(entry.source, entry.source)) for entry in entries)
    return tuple(entry._replace(source=source) for entry, source in found if source is not None)


def runs(code: str, gpu: str) -> bool:
    """Return whether the GPU runs code for a target."""
    return compatibility(code, gpu, None, False).fit in _RUNS


def code_of(path: Path) -> DeviceCode:
    """Return the code of the file.

    Raise PackagingError if the file cannot be read.
    """
    try:
        return device_code(path)
    except RocmSdkError as error:
        raise PackagingError(f"{path}: {error.detail}") from error


def read_offload_targets(path: Path) -> frozenset[str]:
    """Return the base targets (`gfx90a`, without `:xnack-`) of a library's device code; empty if there is no code.

    Raise PackagingError if the library cannot be read.
    """
    processors = {each.target.partition(":")[0] for each in code_of(path).targets}
    return frozenset(name for name in processors if _PROCESSOR.fullmatch(name))


def in_hardware_order(targets: frozenset[str]) -> list[str]:
    """Return the targets sorted as versions: gfx90a before gfx1030.

    The last two digits are minor version and stepping.
    """
    return sorted(targets, key=lambda target: (len(target), target))
