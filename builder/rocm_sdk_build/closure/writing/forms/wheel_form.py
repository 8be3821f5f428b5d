"""The wheels of a closure, from which pip and uv install.

Each dist-info directory becomes a wheel, with the files of its RECORD. A wheel has no links. Other names of a library
are left out, as in packages of an SDK: the loader gives libraries their names without version. Another link becomes a
copy of its file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rocm_sdk.installed.record import read_record
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.installed_wheel import OF_INSTALLER, write_again
from rocm_sdk_build.closure.writing.commands import DIRECTORY
from rocm_sdk_build.inputs.file_kind import Kind, look_at

from .tree import normalise, size_of


def as_wheels(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
    """Write a directory with a wheel of each package; return its size."""
    normalise(site)
    directory = scratch / "wheels"
    directory.mkdir()
    for info in sorted(site.glob("*.dist-info")):
        write_again(info, directory, _members(site, info), lambda path: wait.step(path.name, path.lstat().st_size))
    directory.rename(output)
    return size_of(output)


def _members(site: Path, info: Path) -> Iterator[tuple[str, Path]]:
    """Yield names in the wheel and files; files of dist-info are the last."""
    base = info.name.removesuffix(".dist-info")
    rows = sorted(row.path for row in read_record(str(info / "RECORD")).rows)
    for row in sorted(rows, key=lambda row: row.startswith(f"{info.name}/")):
        path = site / row
        if row.startswith(f"{DIRECTORY}/"):
            yield f"{base}.data/scripts/{row.removeprefix(f'{DIRECTORY}/')}", path
        elif row not in {f"{info.name}/{name}" for name in OF_INSTALLER} and not _is_other_name(path):
            yield row, path


def _is_other_name(path: Path) -> bool:
    """Return whether a path is a link to a library, and not the name by which others need it."""
    if not path.is_symlink():
        return False
    facts = look_at(Path(os.path.realpath(path)))
    return facts.kind is Kind.LIBRARY and path.name != facts.soname
