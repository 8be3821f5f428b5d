"""The command `rocm-sdk tree --timing`: the times of loading libraries that are not in memory, and that are.

Each load is in a process of its own. The waiting time of a file is the difference of its times. The pages that the cold
load touches, and the sections in which they lie, say which parts of a file are brought, and what these are for.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rocm_sdk._native import paged_files, section_extents
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.scratch import scratch_directory
from rocm_sdk.base.starting import own_code, run
from rocm_sdk.errors import BadLibraryError, RocmSdkError
from rocm_sdk.installed.page_list import VARIABLE, drop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .plan_tree import Tree

_COLD = 50e-6  # seconds that the first byte of a file takes which is not in memory: as loads judge it
_LIST_LIMIT = 1 << 20  # bytes
_READ_AHEAD, _VERBOSE = "ROCM_SDK_READ_AHEAD", "ROCM_SDK_VERBOSE"
_SAYS_AHEAD = "rocm_sdk: reading ahead "  # the beginning of the line of a load that reads ahead
_PROGRAM = f"""\
import json, os, sys, time
import rocm_sdk
from rocm_sdk.cli.tree.plan_tree import own_seconds
pages, *names = sys.argv[1:]
start = time.perf_counter()
try:
    rocm_sdk.preload_libraries(*names)
except rocm_sdk.RocmSdkError as error:
    sys.exit(str(error))
answer = [time.perf_counter() - start, dict(own_seconds())]
if pages:
    os.environ["{VARIABLE}"] = pages
    rocm_sdk.preload_libraries(*names)
print(json.dumps(answer))
"""


class Times(NamedTuple):
    """A load: the time of the whole call, and of each library in dlopen, by path, in seconds.

    reads_ahead: whether the load has said to read ahead.
    """

    whole: float
    steps: Mapping[str, float]
    reads_ahead: bool


class Timing(NamedTuple):
    """The loads of the same libraries; None: not tried.

    cold: nothing is read ahead. listed: by the page list. unlisted: as a load without a list reads ahead; None
    also where it reads nothing ahead. why_not_cold: a sentence; None: cold was tried. stayed: files that did not leave
    the memory. touched: of each file, kind of section -> bytes of pages that the cold load, else the warm one, has
    touched.
    """

    warm: Times
    cold: Times | None
    listed: Times | None
    unlisted: Times | None
    why_not_cold: str | None
    stayed: tuple[str, ...]
    touched: Mapping[str, Mapping[str, int]]


def timed(tree: Tree, shortnames: Sequence[str], list_place: str) -> Timing:
    """Load the libraries of a tree, cold and warm, and return the times.

    list_place: the place of the SDK's page list, if it has one. Raises RocmSdkError if the libraries cannot be loaded.
    """
    paths = [*tree.files]
    why, stayed = _emptied(paths)
    cold = listed = unlisted = None
    with scratch_directory(Path(tempfile.gettempdir()), "rocm-sdk-timing-") as scratch:
        pages = f"{scratch}/pages"
        if why is None:
            cold = _load(shortnames, pages, {_READ_AHEAD: "0"})
            if os.path.lexists(list_place):
                _emptied(paths)
                listed = _load(shortnames, "", {_READ_AHEAD: ""})
            else:
                unlisted = _load_ahead(shortnames, paths)
        warm = _load(shortnames, "" if cold is not None else pages, {_READ_AHEAD: "0"})
        touched = _touched(pages, paths)
    return Timing(warm, cold, listed, unlisted, why, stayed, touched)


def _emptied(paths: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return why the files cannot leave the memory, and which of them have not left it."""
    for path in paths:
        if os.geteuid() not in {0, os.stat(path).st_uid}:
            return f"{path} belongs to another user, and would leave the memory for all", ()
    for path in paths:
        drop(path)
    stayed = tuple(path for path in paths if _is_in_memory(path))
    if len(stayed) == len(paths):
        return "the files do not leave the memory: it is all that their file system has, or processes use them", stayed
    return None, stayed


def _is_in_memory(path: str) -> bool:
    """Return whether the beginning of a file is in memory; afterwards it is not, if that can be."""
    with open(path, "rb", buffering=0) as file:
        start = time.perf_counter()
        file.read(1)
        taken = time.perf_counter() - start
    drop(path)
    return taken < _COLD


def _load_ahead(shortnames: Sequence[str], paths: Sequence[str]) -> Times | None:
    """Load as the loads of this user do, who may have set the variable.

    The result is None if the files come too quickly to read ahead.
    """
    _emptied(paths)
    found = _load(shortnames, "", {_VERBOSE: "1"})
    return found if found.reads_ahead else None


def _load(shortnames: Sequence[str], pages: str, variables: Mapping[str, str]) -> Times:
    done = run(own_code(_PROGRAM, pages, *shortnames), variables=variables)
    reads_ahead = any(line.startswith(_SAYS_AHEAD) for line in done.stderr.splitlines())
    try:
        whole, steps = json.loads(done.stdout.splitlines()[-1])
        return Times(float(whole), {path: float(seconds) for path, seconds in steps.items()}, reads_ahead)
    except (AttributeError, IndexError, TypeError, ValueError) as error:  # libraries may print, or end the process
        what = done.stderr.strip() or f"the process that loads ends with status {done.returncode}"
        raise RocmSdkError(what) from error


def _touched(pages: str, paths: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the bytes of touched pages by path and kind of section; {} if the kernel does not tell."""
    try:
        with open(pages, "rb") as file:
            files = paged_files(file.read(_LIST_LIMIT))
    except (FileNotFoundError, RocmSdkError):
        return {}
    parts = {f"/{directory}/{name}": found for directory, name, *_, found in files}
    found = {path: next((each for end, each in parts.items() if path.endswith(end)), ()) for path in paths}
    return {path: bytes_by_kind(path, each) for path, each in found.items()}


SYMBOLS, RELOCATIONS, CODE, DATA, CONSTANTS, REST = "symbols", "relocations", "code", "data", "constants", "rest"

_NO_BITS = 8
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_MOST = 200  # sections that are looked at; libraries have forty
_TYPES = {
    **dict.fromkeys((3, 5, 11, 0x6FFFFFF6, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF), SYMBOLS),
    **dict.fromkeys((4, 9, 19), RELOCATIONS),
}


def bytes_by_kind(path: str, parts: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Return kind -> bytes of it in these parts of a file, each a start and a size; the largest first.

    Raise OSError.
    """
    sections = [*_sections(path)]
    found: dict[str, int] = {}
    for start, size in parts:
        rest = size
        for kind, offset, length in sections:
            common = min(start + size, offset + length) - max(start, offset)
            if common > 0:
                found[kind] = found.get(kind, 0) + common
                rest -= common
        if rest > 0:
            found[REST] = found.get(REST, 0) + rest
    return dict(sorted(found.items(), key=lambda row: -row[1]))


def _sections(path: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, offset and size of each section that is loaded.

    A file that is no ELF file, or has no sound headers, has none.
    """
    try:
        headers = section_extents(path)
    except BadLibraryError:
        return
    for type_, flags, start, length in headers[:_MOST]:
        if flags & _ALLOC and type_ != _NO_BITS:
            yield _kind(type_, flags), start, length


def _kind(type_: int, flags: int) -> str:
    if type_ in _TYPES:
        return _TYPES[type_]
    return CODE if flags & _EXECUTE else DATA if flags & _WRITE else CONSTANTS
