"""The data files of an SDK's libraries: the GPUs of each, and the files that a choice of GPUs does not need.

The kinds are rows of `data_files.txt`. The rules of `rocm-sdk check-gpu` decide which files a GPU uses. A file for
other GPUs stays if a file that stays names it: an index of Tensile, a library that needs it.
"""

from __future__ import annotations

import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk import RocmSdkError, device_code, targets
from rocm_sdk.fit.code.candidate import may_have_code
from rocm_sdk.fit.code.refusal import refusal
from rocm_sdk.fit.image_kinds import image_kind
from rocm_sdk.fit.image_kinds import serves as image_kind_serves
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.installed.readers import inspect_library, target_in_name
from rocm_sdk_build.base.errors import PackagingError, raise_error
from rocm_sdk_build.code.choice import choose_targets
from rocm_sdk_build.code.trees import Left, Select, Selection

from .globs import matches
from .kernel_indexes import is_index, lost_tables, named_by, stem_of

UNKNOWN = "unknown data"  # the kind of a file in a library's directory that fits no row
ANY_LIBRARY = "*"

_TABLE = Path(__file__).with_name("data_files.txt")
_WAYS, _WITHOUT = ("name", "code", "images"), ("stays", "goes")
_ABOVE = 3  # directories: rocblas/4.4.1/library
_COLUMNS = ("TARGETS", "WITHOUT", "LIBRARIES", "GLOB", "KIND")
# Files beside a library's data that are not data: libraries, sources, files of compilers and build tools.
_NO_DATA = frozenset([".a", ".bc", ".c", ".cmake", ".cpp", ".h", ".hpp", ".inc", ".pc", ".py", ".pyc", ".pyi", ".sh"])
_LIBRARY = re.compile(r"lib(.+?)\.so(?:\.[\d.]+)?")


class DataFile(NamedTuple):
    """A file that libraries read."""

    path: str  # path below the directory
    kind: str  # kind in words
    libraries: tuple[str, ...]  # linker names of the libraries that read the file; ANY_LIBRARY
    targets: tuple[str, ...]  # targets of the file; (): every GPU
    group: str  # directory of the files among which a library chooses, with names above the tree
    is_optional: bool  # the library does not need a file of the group for the GPU


class Held(NamedTuple):
    """A file that is for other GPUs, and stays."""

    file: DataFile
    why: str


class NotNeeded(NamedTuple):
    """Files that are for other GPUs."""

    dropped: tuple[DataFile, ...]  # no file that stays names them
    held: tuple[Held, ...]


def files_below(directory: Path) -> tuple[str, ...]:
    """Return the regular files below a directory, as paths below it, in order; links are not followed.

    Raise OSError if a directory cannot be read.
    """
    found: list[str] = []
    for parent, _, names in walk(directory, raise_error):
        paths = (Path(parent, name) for name in names)
        found += (str(path.relative_to(directory)) for path in paths if stat.S_ISREG(path.lstat().st_mode))
    return tuple(sorted(found))


def data_files(directory: Path, paths: Iterable[str]) -> tuple[DataFile, ...]:
    """Return the regular files that are data of ROCm's libraries, in the order of `paths`.

    `paths` are paths below the directory. The directory may itself be a directory of a library's data: its own name and
    the names above count.
    """
    listed = tuple(paths)
    owners = _owners(listed)
    above = PurePosixPath(*directory.resolve().parts[1:][-_ABOVE:])
    found = (_known(directory, above, path) or _unknown(path, owners) for path in listed)
    return tuple(file for file in found if file is not None)


def not_needed(directory: Path, files: Sequence[DataFile], gpus: tuple[str, ...], unofficial: bool) -> NotNeeded:
    """Return the files that none of the GPUs uses.

    With `unofficial` a file that only patched runtimes try on the GPUs counts as used. Raise OSError if a file cannot
    be read.
    """
    groups: dict[str, list[DataFile]] = defaultdict(list)
    for file in files:
        groups[file.group].append(file)
    dropped: list[DataFile] = []
    held: list[Held] = []
    for group in groups.values():
        choice = _choose(directory, group, gpus, unofficial)
        dropped += choice.dropped
        held += choice.held
    return NotNeeded(tuple(sorted(dropped)), tuple(sorted(held)))


# ---- the table ----


class _Row(NamedTuple):
    ways: tuple[str, ...]
    is_optional: bool
    libraries: tuple[str, ...]
    glob: str
    kind: str


@cache
def read_table(path: Path = _TABLE) -> tuple[_Row, ...]:
    """Return the rows of a table, by default the established one.

    Raise PackagingError, which names the line that is wrong.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.partition("#")[0].split(None, len(_COLUMNS) - 1)
        if not fields:
            continue
        ways = () if fields[0] == "-" else tuple(fields[0].split(","))
        if len(fields) < len(_COLUMNS) or not set(ways) <= set(_WAYS) or fields[1] not in _WITHOUT:
            known = f"columns are {' '.join(_COLUMNS)}; TARGETS: -, {', '.join(_WAYS)}; WITHOUT: {', '.join(_WITHOUT)}"
            raise PackagingError(f"{path}:{number}: {line.strip()!r} is not a row", known)
        rows.append(_Row(ways, fields[1] == "goes", tuple(fields[2].split(",")), fields[3], fields[4].strip()))
    return tuple(rows)


def _known(directory: Path, above: PurePosixPath, path: str) -> DataFile | None:
    place = str(above / path)
    row = next((row for row in read_table() if matches(place, row.glob)), None)
    if row is None:
        return None
    group = _group_of(place, row.glob)
    inner = PurePosixPath(place).relative_to(group)
    found = (_TELL[way](directory / path, inner) for way in row.ways)
    return DataFile(path, row.kind, row.libraries, next(filter(None, found), ()), group, row.is_optional)


def _group_of(path: str, glob: str) -> str:
    """Return the directory that the pattern stands for, or else the directory of the file."""
    parents = [str(each) for each in PurePosixPath(path).parents]
    return next((each for each in reversed(parents) if glob.endswith("/**") and matches(each, glob)), parents[0])


# ---- targets ----


def _by_name(_: Path, inner: PurePosixPath) -> tuple[str, ...]:
    return next(filter(None, map(_in_name, reversed(inner.parts))), ())


def _in_name(name: str) -> tuple[str, ...]:
    """Return all targets in a name, which may have several."""
    starts = (max(found.start() - 1, 0) for found in re.finditer("gfx", name))
    return tuple(dict.fromkeys(target for start in starts if (target := target_in_name(name[start:])) is not None))


def _by_code(file: Path, _: PurePosixPath) -> tuple[str, ...]:
    """Return the targets of the file's GPU code; a file that cannot be read is for every GPU."""
    if not may_have_code(file):
        return ()
    try:
        return tuple(each.target for each in device_code(file).targets)
    except RocmSdkError:
        return ()


def _by_images(_: Path, inner: PurePosixPath) -> tuple[str, ...]:
    """Return the known targets of a kind of GPU."""
    kind = image_kind(inner.parts[0])
    return tuple(row.name for row in targets.table() if kind is not None and image_kind_serves((kind,), row.name))


# The ways to find the targets of a file, whose place in its group is `inner`.
_TELL = {"name": _by_name, "code": _by_code, "images": _by_images}


# ---- data that no row names ----


def _owners(paths: Iterable[str]) -> dict[str, str]:
    """Return the linker name of each library by the name that directories of its data have."""
    found = (_LIBRARY.fullmatch(PurePosixPath(path).name) for path in paths)
    return {each[1].lower(): f"lib{each[1]}.so" for each in found if each is not None}


def _unknown(path: str, owners: dict[str, str]) -> DataFile | None:
    place = PurePosixPath(path)
    owner = next((owners[part.lower()] for part in reversed(place.parts[:-1]) if part.lower() in owners), None)
    if owner is None or place.suffix in _NO_DATA or _LIBRARY.fullmatch(place.name):
        return None
    return DataFile(path, UNKNOWN, (owner,), (), str(place.parent), is_optional=False)


# ---- the choice ----


def _choose(directory: Path, group: Sequence[DataFile], gpus: tuple[str, ...], unofficial: bool) -> NotNeeded:
    """Return the choice among the files of one group."""
    known = sorted({target for file in group for target in file.targets})
    chosen = set(choose_targets(known, gpus, unofficial))
    others = [file for file in group if file.targets and not chosen.intersection(file.targets)]
    if not chosen and not all(file.is_optional for file in others):
        why = f"none of the {group[0].kind} is for {', '.join(gpus)}"
        return NotNeeded((), tuple(Held(file, why) for file in others))
    held: dict[str, Held] = {}
    while True:
        left = [file for file in others if file.path not in held]
        gone = {file.path for file in left}
        kept = [file.path for file in group if file.path not in gone]
        found = [*_named_by_indexes(directory, kept, left, gpus, unofficial), *_needed_by_libraries(directory, left)]
        if not found:
            return NotNeeded(tuple(left), tuple(held.values()))
        held |= {each.file.path: each for each in found}  # these files may name others


def _named_by_indexes(
    directory: Path, kept: Iterable[str], others: Sequence[DataFile], gpus: tuple[str, ...], unofficial: bool
) -> Iterator[Held]:
    places: dict[tuple[str, str], list[DataFile]] = defaultdict(list)
    for file in others:
        places[stem_of(file.path)].append(file)
    for index in filter(is_index, kept if places else ()):
        parent = str(PurePosixPath(index).parent)
        try:
            names = named_by(directory, index, gpus, unofficial)
        except RocmSdkError as error:
            why = error.detail.removeprefix(f"{directory / index}: ")
            beside = (file for file in others if str(PurePosixPath(file.path).parent) == parent)
            yield from (Held(file, f"{index}, which may name it, cannot be read: {why}") for file in beside)
        else:
            yield from (Held(file, f"{index} names it") for name in names for file in places.get((parent, name), ()))


def _needed_by_libraries(directory: Path, others: Sequence[DataFile]) -> Iterator[Held]:
    """Yield libraries for one target that a library beside them, which stays, needs to load."""
    places: dict[str, dict[str, DataFile]] = defaultdict(dict)
    for file in others:
        place = PurePosixPath(file.path)
        if _LIBRARY.fullmatch(place.name):
            places[str(place.parent)][place.name] = file
    for parent, libraries in places.items():
        for other, needed in _libraries_in(directory / parent):
            if other not in libraries:
                yield from (Held(libraries[name], f"{other} needs it to load") for name in needed if name in libraries)


def _libraries_in(directory: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each library of a directory with its needs; a library that cannot be read needs nothing."""
    for path in sorted(directory.iterdir()):
        if _LIBRARY.fullmatch(path.name):
            try:
                yield path.name, inspect_library(path).needed
            except RocmSdkError:
                continue


# ---- the selection ----


def select_for(gpus: tuple[str, ...], unofficial: bool) -> Select:
    """Return the selection of data files for GPUs.

    With `unofficial`, files that only patched runtimes try on the GPUs stay, too.
    """
    return lambda place: select_files(directory := Path(place), files_below(directory), gpus, unofficial)


def select_files(directory: Path, paths: tuple[str, ...], gpus: tuple[str, ...], unofficial: bool) -> Selection:
    """Return the selection among some files of a directory.

    `paths` are the paths of regular files below the directory, in order. Raise RewriteError if an index that
    stays would name a table that goes.
    """
    files = data_files(directory, paths)
    choice = not_needed(directory, files, gpus, unofficial)
    dropped = {file.path for file in choice.dropped}
    held = {each.file.path for each in choice.held}
    kept = (path for path in paths if path not in dropped)
    for lost in lost_tables(directory, paths, kept, gpus, unofficial):
        raise refusal(lost.named_in, f"it names {lost.table}, which would not be there", "E-CODE-013")
    kinds = {file.kind for file in files if file.targets}  # kinds that have files for single targets
    return Selection(
        left_out=dict.fromkeys(sorted(dropped), f"it is not for {', '.join(gpus)}"),
        kinds={file.path: file.kind for file in files if file.kind in kinds},
        held=tuple(Left(each.file.path, each.why) for each in choice.held),
        suffices=bool(dropped) and any(file.targets and file.path not in dropped | held for file in files),
    )
