"""The tables to which an index of Tensile leads, and the search for tables that are missing.

The loader's reader takes an index apart (`kernel_table_names`). The names in an index may be hostile: they are only
compared with the names of files, never opened. An index in YAML is not parsed: each word in it that may be the name of
a table counts as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rocm_sdk import BadLibraryError, RocmSdkError
from rocm_sdk.installed.readers import kernel_table_kind, kernel_table_names
from rocm_sdk_build.code.choice import choose_targets

_YAML, _YAML_LIMIT = ".yaml", 1 << 28  # bytes; no index is larger
_WORD = re.compile(rb"Tensile[\w+-]{1,500}")


class LostTable(NamedTuple):
    """A table that an index names, and that is left out."""

    named_in: str  # path of the index
    table: str  # name without the part after the "."


def is_index(path: str) -> bool:
    """Return whether a file has the name of an index, or of hipBLASLt's lists of tables."""
    return kernel_table_kind(PurePosixPath(path).name) in ("index", "targets")


def stem_of(path: str) -> tuple[str, str]:
    """Return the directory of a file, and the name by which an index there names the file."""
    place = PurePosixPath(path)
    return str(place.parent), place.name.partition(".")[0]


def named_by(directory: Path, index: str, gpus: tuple[str, ...], unofficial: bool) -> frozenset[str]:
    """Return the names of the tables to which an index leads one of the GPUs; () stands for any GPU.

    `index` is the path of the index below the directory. Raise OSError or RocmSdkError if the index cannot be read.
    """
    path = directory / index
    if path.suffix == _YAML:
        return _words(path)
    pairs = kernel_table_names(path)
    chosen = set(choose_targets([target for target in {each for each, _ in pairs} if target], gpus, unofficial))
    return frozenset(name for target, name in pairs if target is None or target in chosen or not gpus)


def lost_tables(
    directory: Path, paths: Iterable[str], kept: Iterable[str], gpus: tuple[str, ...] = (), unofficial: bool = False
) -> tuple[LostTable, ...]:
    """Return the tables that kept indexes name for the GPUs and that are not kept; () stands for any GPU.

    `paths` are the paths of files below the directory, and `kept` the paths among them that stay. An index that cannot
    be read names nothing; check-gpu reports it.
    """
    files = sorted(kept)
    left_out = _tables(paths) - _tables(files)
    found = []
    for index in filter(is_index, files if left_out else ()):
        if PurePosixPath(index).suffix == _YAML:
            continue  # its words prove nothing: not each is the name of a table
        parent = str(PurePosixPath(index).parent)
        try:
            names = named_by(directory, index, gpus, unofficial)
        except RocmSdkError:
            continue
        found += [LostTable(index, name) for name in sorted(names) if (parent, name) in left_out]
    return tuple(found)


def _tables(paths: Iterable[str]) -> set[tuple[str, str]]:
    return {stem_of(path) for path in paths if kernel_table_kind(PurePosixPath(path).name) == "table"}


def _words(path: Path) -> frozenset[str]:
    with path.open("rb") as file:
        content = file.read(_YAML_LIMIT + 1)
    if len(content) > _YAML_LIMIT:
        raise BadLibraryError(f"{path}: it is larger than any index of kernels is", None, str(path), "E-LIB-006")
    return frozenset(word.decode() for word in _WORD.findall(content))
