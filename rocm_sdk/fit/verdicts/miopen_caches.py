"""MIOpen's files in the user's directories: kernels that it compiled, and choices that it found to be fast.

Sources: MIOpen's documentation of its variables. The directory of compiled kernels has one for each version of MIOpen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from rocm_sdk import _native
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.problems import Problem

# Variable, default below the home directory.
_PLACES = (("MIOPEN_CUSTOM_CACHE_DIR", ".cache/miopen"), ("MIOPEN_USER_DB_PATH", ".config/miopen"))
_SYSTEM = "MIOPEN_SYSTEM_DB_PATH"
_ENDINGS = (".ukdb", ".udb", ".ufdb", ".udb.txt", ".ufdb.txt")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)\D?.*")
_DEPTH = 3
_NAMED = 3


def miopen_problems(gpus: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for the user's files that MIOpen will not use.

    Such files are of other versions, or for GPUs that were not asked for.
    """
    processors = {gpu.partition(":")[0] for gpu in gpus}
    for variable, default in _PLACES:
        directory = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), default)
        files = list(_databases(directory))
        newest = max((version for _, version in files if version), default=None)
        unused = [path for path, version in files if version and newest and version < newest]
        if unused:
            yield _note(directory, unused, "they are of older versions of MIOpen")
        foreign = [path for path, _ in files if path not in unused and processors and _target(path) not in processors]
        if foreign:
            yield _note(directory, foreign, f"they are for other GPUs than {', '.join(sorted(processors))}")
    system = os.environ.get(_SYSTEM)
    if system and not _has_database(system, processors):
        yield problem("W-ENV-009", system, variable=_SYSTEM, path=system, target=", ".join(sorted(processors)) or None)


def _note(directory: str, paths: list[str], why: str) -> Problem:
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    names = ", ".join(os.path.relpath(path, directory) for path in paths[:_NAMED])
    more = ", ..." if len(paths) > _NAMED else ""
    detail = f"{counted(len(paths), 'file')}, {size_text(size)}: {names}{more}: {why}"
    return problem("N-CODE-009", directory, path=directory, detail=detail)


def _databases(directory: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the paths of the files, and the version in the name of the directory below `directory`; () without one."""
    for parent, names, files in walk(directory):
        below = os.path.relpath(parent, directory)
        if below.count(os.sep) >= _DEPTH:
            names.clear()
        found = _VERSION.fullmatch(below.partition(os.sep)[0])
        version = tuple(int(number) for number in found.groups()) if found else ()
        for name in sorted(files):
            if name.endswith(_ENDINGS) and _target(name) is not None:
                yield os.path.join(parent, name), version


def _target(path: str) -> str | None:
    found = _native.target_in_name(os.path.basename(path))
    return found.partition(":")[0] if found is not None else None


def _has_database(directory: str, processors: set[str]) -> bool:
    try:
        targets = {_target(name) for name in os.listdir(directory)} - {None}
    except OSError:
        return False
    return bool(targets & processors if processors else targets)
