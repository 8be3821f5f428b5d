"""Finds the packages in a directory of them, and reads their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from rocm_sdk_build.errors import PackagingError


class PackageFile(NamedTuple):
    """A wheel or source distribution."""

    project: str  # normalised
    version: str
    path: Path

    @property
    def is_wheel(self) -> bool:
        return self.path.suffix == ".whl"


def find_packages(directory: Path, *, below: bool = True) -> Iterator[PackageFile]:
    """The packages in a directory and (`below`) directly below it. PackagingError for an invalid name."""
    for pattern in ("*.whl", "*.tar.gz", "*/*.whl", "*/*.tar.gz")[: 4 if below else 2]:
        for path in sorted(directory.glob(pattern)):
            if not path.parent.name.startswith("."):
                yield _read_name(path)


def _read_name(path: Path) -> PackageFile:
    if not path.is_file():  # a pipe would be waited for
        raise PackagingError(f"{path}: is not a file", "remove it")
    try:
        if path.suffix == ".whl":
            name, version, *_ = parse_wheel_filename(path.name)
        else:
            name, version = parse_sdist_filename(path.name)
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise PackagingError(f"{path}: is not called as packages are: {error}") from error
    return PackageFile(name, str(version), path)
