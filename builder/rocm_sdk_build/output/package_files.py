"""Finds the packages in a directory of them, and reads their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from rocm_sdk_build.errors import AbsentInputError, PackagingError
from rocm_sdk_build.packages.debug_files import DEBUG
from rocm_sdk_build.packages.parts import Part

_OF_SDK = re.compile(r"rocm|rocm-profiler|rocm-sdk-(core|devel|libraries(-.+)?|device-.+|debug-.+)")


class PackageFile(NamedTuple):
    """A wheel or source distribution."""

    project: str  # normalised
    version: str
    path: Path

    @property
    def is_wheel(self) -> bool:
        return self.path.suffix == ".whl"

    @property
    def is_of_sdk(self) -> bool:
        """Whether it is the selector, or a package that it may choose, or its debug information; the loader is none."""
        return _OF_SDK.fullmatch(self.project) is not None

    @property
    def debug_of(self) -> str | None:
        """The project whose debug information it is (`--split-debug`); None if it is none."""
        name = self.project.removeprefix(DEBUG)
        return None if name == self.project else Part(name, name).distribution


def find_packages(directory: Path, *, below: bool = True) -> Iterator[PackageFile]:
    """The packages in a directory and (`below`) directly below it.

    AbsentInputError if there is no such directory, OSError if one cannot be read, PackagingError for an invalid name.
    """
    if not directory.is_dir():
        raise AbsentInputError(f"{directory}: there is no such directory", "name the directory that has the packages")
    inside = sorted(directory.iterdir())
    groups = [inside]
    if below:
        places = (path for path in inside if not path.name.startswith(".") and path.is_dir())
        groups.append([path for place in places for path in sorted(place.iterdir())])
    for group in groups:
        for ending in (".whl", ".tar.gz"):
            yield from (read_name(path) for path in group if path.name.endswith(ending))


def read_name(path: Path) -> PackageFile:
    """The package in a file. PackagingError for an invalid name."""
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
