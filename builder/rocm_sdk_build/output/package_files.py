"""The finder of packages in a directory, and the reader of their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.named_directory import require_directory
from rocm_sdk_build.packages.package import DEBUG
from rocm_sdk_build.packages.parts import Part

NAME_IT = "name the directory that has the packages"
_OF_SDK = re.compile(r"rocm|rocm-profiler|rocm-sdk-(core|devel|libraries(-.+)?|device-.+|debug-.+)")


class PackageFile(NamedTuple):
    """A wheel or source distribution."""

    project: str  # normalised
    version: str
    path: Path

    @property
    def is_wheel(self) -> bool:
        """True for a wheel, False for a source distribution."""
        return self.path.suffix == ".whl"

    @property
    def is_of_sdk(self) -> bool:
        """True if the package is of the SDK: selector, runtime, device, development or debug package.

        The loader is not of the SDK.
        """
        return _OF_SDK.fullmatch(self.project) is not None

    @property
    def debug_of(self) -> str | None:
        """The project whose debug information the package is (`--split-debug`), or None."""
        name = self.project.removeprefix(DEBUG)
        return None if name == self.project else Part(name, name).distribution


def find_packages(directory: Path, *, below: bool = True) -> Iterator[PackageFile]:
    """Yield the packages in a directory and, with `below`, directly below it.

    A directory that has several names there counts once. Raise AbsentInputError if there is no such directory, OSError
    if the directory cannot be read, and PackagingError if a directory below it cannot, and for an invalid name.
    """
    require_directory(directory, NAME_IT)
    inside = sorted(directory.iterdir())
    groups = [inside]
    if below:
        groups.append([path for place in _places(directory, inside) for path in _inside(place)])
    for group in groups:
        for ending in (".whl", ".tar.gz"):
            yield from (read_name(path) for path in group if path.name.endswith(ending))


def _places(directory: Path, inside: Iterable[Path]) -> Iterable[Path]:
    """Return the directories among these paths, except hidden ones.

    A link to another directory among them, or to `directory`, does not count.
    """
    known = {os.path.realpath(directory): directory}
    for path in sorted(inside, key=Path.is_symlink):
        if not path.name.startswith(".") and path.is_dir():
            known.setdefault(os.path.realpath(path), path)
    return list(known.values())[1:]


def _inside(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except PermissionError as error:
        raise PackagingError(
            f"{place}: {error.strerror}", "let this user read it, or keep the packages in a directory without it"
        ) from error


def read_name(path: Path) -> PackageFile:
    """Return the package in a file.

    Raise PackagingError for an invalid name.
    """
    if not path.is_file():  # opening a pipe would wait
        raise PackagingError(f"{path}: is not a file", "remove it")
    try:
        if path.suffix == ".whl":
            name, version, *_ = parse_wheel_filename(path.name)
        else:
            name, version = parse_sdist_filename(path.name)
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise PackagingError(f"{path}: is not called as packages are: {error}") from error
    return PackageFile(name, str(version), path)
