"""The files of a package that do not matter for its import: libraries that nothing in it opens or names.

The verdict covers what the package loads by itself: the modules that Python imports by name, programs, what these
bring in, and what a file of the package names. The others, such as plug-ins for tests, and adapters that another
package opens, get a line.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from rocm_sdk._native import catalog
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.gpu_builds import LIBRARY_OF_HIP
from rocm_sdk.installed.catalog import linker_name

from .variants import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocm_sdk._native import HostFile

    from .subject import Subject

_SOURCES_LIMIT = 64 << 20  # bytes of sources that are searched; longer ones may name any file


def judged_elsewhere(subject: Subject, rows: Mapping[str, HostFile]) -> tuple[set[str], set[str]]:
    """Return the libraries that fail alone and whose own verdict does not count.

    The first set has those that other files bring in, and that are judged with these. The second has those that
    nothing in a package imports or names.
    """
    failing = [row for row in rows.values() if not (row.is_module or row.is_program or row.fault or loads(row))]
    if subject.kind not in ("wheel", "distribution", "directory") or not failing:
        return set(), set()
    paths = {os.path.realpath(path): path for path in rows}
    brought = {path: {paths.get(os.path.realpath(each), path) for each in _found(row)} for path, row in rows.items()}
    needed = {each for path, inner in brought.items() for each in inner - {path}}
    pending = [path for path, row in rows.items() if row.is_module or row.is_program or path not in needed]
    first, reached = set(pending), set(pending)
    for path in pending:  # the list grows
        more = brought[path] - reached
        reached |= more
        pending += sorted(more)
    alone = [row for row in failing if row.path in first]
    has_modules = subject.kind != "directory" and any(row.is_module for row in rows.values())
    unnamed = _unnamed(subject, rows, alone) if alone and has_modules else set()
    return {row.path for row in failing if row.path in reached - first}, unnamed


def _found(row: HostFile) -> Iterator[str]:
    """Yield the paths of the needed libraries that the linker finds."""
    absent = {each.name for each in row.unfound}
    yield from (need.path for need in row.needs if need.path is not None and need.name not in absent)


def _unnamed(subject: Subject, rows: Mapping[str, HostFile], failing: list[HostFile]) -> set[str]:
    """Return the libraries that no source and no other library names."""
    names = {row.path: os.path.basename(row.path).partition(".so")[0].removeprefix("lib").encode() for row in failing}
    wanted, left = set(names.values()), _SOURCES_LIMIT
    with suppress(RocmSdkError, OSError):
        for text in _texts(subject, (row.path for row in rows.values() if not (row.path in names or row.fault))):
            wanted -= {name for name in wanted if name in text}
            left -= len(text)
            if left < 0 or not wanted:
                return set()
        return {path for path, name in names.items() if name in wanted}
    return set()  # what was not searched may name them


def named_in_python(subject: Subject) -> set[str]:
    """Return the names of ROCm's libraries, without a version, that are strings in a package's Python modules."""
    names = "|".join(filter(LIBRARY_OF_HIP.fullmatch, {linker_name(row[2]) for row in catalog()}))
    literal, found, left = re.compile(rf"""(["'])({names})\1""".encode()), set[str](), _SOURCES_LIMIT
    with suppress(RocmSdkError, OSError):
        for text in _texts(subject, ()) if subject.distribution else ():
            found |= {each[2].decode() for each in literal.finditer(text)}
            left -= len(text) + (32 << 10)  # many small ones take as long as a large one
            if left < 0:
                break
    return found


def _texts(subject: Subject, libraries: Iterable[str]) -> Iterator[bytes]:
    """Yield the sources of the Python modules, and the names that libraries open."""
    from rocm_sdk._native import inspect_library

    for path in libraries:
        with suppress(RocmSdkError):  # a program without a dynamic section names nothing
            yield "\n".join(inspect_library(path, True).opened).encode()
    if subject.kind == "wheel":
        yield from _of_wheel(subject.name)
        return
    from rocm_sdk.base.files import read_beginning
    from rocm_sdk.installed.other_distributions import find

    distribution = find(subject.name)
    for file in (distribution.files or ()) if distribution is not None else ():
        if file.suffix == ".py":
            yield read_beginning(str(file.locate()), _SOURCES_LIMIT + 1)


def _of_wheel(path: str) -> Iterator[bytes]:
    from rocm_sdk.fit.code.zip_file import DAMAGE, open_zip

    with open(path, "rb") as file, open_zip(path, file) as archive, suppress(*DAMAGE):
        for member in archive.infolist():
            if member.filename.endswith(".py"):
                with archive.open(member) as stream:
                    yield stream.read(_SOURCES_LIMIT + 1)
