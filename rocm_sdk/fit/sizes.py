"""The size of the installed SDK, and of the GPU code in it: by package, library and target."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError, TopologyError
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.view import current

from .coverage import machine_targets, with_code


class PackageSize(NamedTuple):
    """A distribution: the bytes of the files that its RECORD lists, and of the GPU code in them."""

    name: str
    version: str
    size: int
    code: int


class Sizes(NamedTuple):
    """The sizes of an SDK. `code` is the size in files, which may be compressed, `plain` the same decompressed.

    gpus: the targets of this machine's GPUs, for which `used` of the targets counts.
    """

    packages: tuple[PackageSize, ...]
    libraries: tuple[_native.LibraryCoverage, ...]  # the libraries with GPU code, the largest first
    targets: tuple[_native.CoveredTarget, ...]  # by name
    code: int
    plain: int
    gpus: tuple[str, ...]


def sizes() -> Sizes:
    """Return the sizes of the installed SDK. Raise PackageNotInstalledError without one."""
    installed = current()
    directories = installed.directories
    gpus = _gpus()
    found = _native.coverage(directories, gpus, False)
    libraries = sorted(with_code(found), key=lambda library: (-library.stored_size, library.name))
    code = {path: _code_size(path) for library in libraries for path in library.files}
    packages = [
        package
        for site in dict.fromkeys(map(os.path.dirname, directories))
        for package in _package_sizes(installed.distributions_in(site), site, code)
    ]
    return Sizes(
        tuple(packages),
        tuple(libraries),
        found.targets,
        sum(library.stored_size for library in libraries),
        sum(library.plain_size for library in libraries),
        gpus,
    )


def _gpus() -> tuple[str, ...]:
    try:
        return machine_targets()
    except TopologyError:
        return ()


def _code_size(path: str) -> int:
    try:
        return _native.device_code(path).stored_size
    except RocmSdkError:
        return 0  # changed since


def _package_sizes(found: Iterable[Distribution], site: str, code: dict[str, int]) -> list[PackageSize]:
    return [
        PackageSize(
            each.name,
            each.version,
            sum(file.size or 0 for file in each.files),
            sum(code.get(os.path.join(site, file.path), 0) for file in each.files),
        )
        for each in found
        if each.has_sdk_files
    ]
