"""Wheels of a closure, from which pip and uv install: one for each dist-info directory, with the files of its RECORD.

A wheel has no links. Other names of a library are left out, as in packages of an SDK: the loader gives libraries their
names without version. Another link becomes a copy of its file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rocm_sdk.installed.record import read_record
from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.closure.writing.commands import DIRECTORY
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.wheels import writing
from rocm_sdk_build.inputs.file_kind import Kind, look_at

from .tree import normalise, size_of

_OF_INSTALLER = ("INSTALLER", "RECORD")  # files of a dist-info directory that a wheel does not have, or not yet


def as_wheels(site: Path, output: Path, scratch: Path, wait: Wait) -> int:
    """A directory with a wheel of each package; returns their size."""
    normalise(site)
    directory = scratch / "wheels"
    directory.mkdir()
    for info in sorted(site.glob("*.dist-info")):
        _write_wheel(site, info, directory, wait)
    directory.rename(output)
    return size_of(output)


def _write_wheel(site: Path, info: Path, directory: Path, wait: Wait) -> None:
    base = info.name.removesuffix(".dist-info")
    with writing(directory / f"{base}-{_tag_of(info)}.whl", info.name, deflate=True) as wheel:
        for name, path in _members(site, info):
            wheel.add_file(name, path)
            wait.step(path.name, path.lstat().st_size)


def _members(site: Path, info: Path) -> Iterator[tuple[str, Path]]:
    """Names in the wheel and files; those of dist-info are the last."""
    base = info.name.removesuffix(".dist-info")
    rows = sorted(row.path for row in read_record(str(info / "RECORD")).rows)
    for row in sorted(rows, key=lambda row: row.startswith(f"{info.name}/")):
        path = site / row
        if row.startswith(f"{DIRECTORY}/"):
            yield f"{base}.data/scripts/{row.removeprefix(f'{DIRECTORY}/')}", path
        elif row not in {f"{info.name}/{name}" for name in _OF_INSTALLER} and not _is_other_name(path):
            yield row, path


def _is_other_name(path: Path) -> bool:
    """Whether a path is a link to a library, and not the name by which others need it."""
    if not path.is_symlink():
        return False
    facts = look_at(Path(os.path.realpath(path)))
    return facts.kind is Kind.LIBRARY and path.name != facts.soname


def _tag_of(info: Path) -> str:
    """The tags of the wheel that was installed, as names of wheels have them."""
    lines = (info / "WHEEL").read_text(encoding="utf-8", errors="replace").splitlines()
    tags = [value.strip().split("-") for name, _, value in (line.partition(":") for line in lines) if name == "Tag"]
    if not tags or any(len(tag) != 3 for tag in tags):
        raise PackagingError(f"{info.name}/WHEEL: has no tag", "install the package again")
    return "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))
