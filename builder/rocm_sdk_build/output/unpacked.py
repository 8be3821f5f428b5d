"""The contents of packages in directories, in place of packages (`--no-build-packages`)."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from packaging.utils import canonicalize_name

from rocm_sdk_build.errors import PackagingError

_PLATFORM, _MODULE, _SELECTOR = "platform", "src", "selector.json"
_OURS = re.compile(rf"{_PLATFORM}|{_MODULE}|.*\.(dist-info|data)")


def unpack(package: Path, parent: Path) -> Path:
    """Writes what a package has to the directory of its distribution's name below `parent`, and returns that.

    A platform directory goes to `platform`, a module to `src`, as the established packager stages them. What an earlier
    run has left there is replaced; PackagingError if something else is there.
    """
    directory = parent / canonicalize_name(package.name.partition("-")[0])
    if directory.exists() and not _is_ours(directory):
        raise PackagingError(f"{directory}: is in the way, and has files that are not of a package", "remove it")
    shutil.rmtree(directory, ignore_errors=True)
    for name, source, mode in _members(package):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            shutil.copyfileobj(source, file)
        target.chmod(mode)
    return directory


def _is_ours(directory: Path) -> bool:
    """Whether it holds a package's metadata, and nothing but what is written here; or the files of a selector."""
    if not directory.is_dir() or directory.is_symlink():
        return False
    names = [path.name for path in directory.iterdir()]
    is_wheel = any(name.endswith(".dist-info") for name in names) and all(map(_OURS.fullmatch, names))
    return is_wheel or {_SELECTOR, "PKG-INFO"}.issubset(names)


def _members(package: Path) -> Iterator[tuple[str, IO[bytes], int]]:
    """Name in the directory, content, mode."""
    if package.suffix != ".whl":
        with tarfile.open(package) as archive:
            for each in archive:
                if (file := archive.extractfile(each)) is not None:
                    yield each.name.partition("/")[2], file, 0o644
        return
    with zipfile.ZipFile(package) as wheel:
        for member in wheel.infolist():
            with wheel.open(member) as source:
                yield _place(member.filename), source, member.external_attr >> 16 & 0o777


def _place(name: str) -> str:
    top = name.partition("/")[0]
    if top.startswith("_"):
        return f"{_PLATFORM}/{name}"
    return name if _OURS.fullmatch(top) else f"{_MODULE}/{name}"
