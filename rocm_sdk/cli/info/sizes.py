"""The command `rocm-sdk info --sizes`: the size of the SDK, by package, library and target."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.value_text import size_text
from rocm_sdk.errors import RocmSdkError, TopologyError
from rocm_sdk.fit.coverage import machine_targets, with_code
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.view import current
from rocm_sdk.terminal.output import tell, tell_table

if TYPE_CHECKING:
    from rocm_sdk._native import DeviceTarget

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
_NUMBERS = frozenset({"size", "GPU code", "decompressed", "images"})


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


def print_sizes(*, for_programs: bool) -> int:
    """Print the sizes, and return status 0."""
    found = sizes()
    if for_programs:
        import json

        content = {
            "schema": _SCHEMA,
            "packages": [each._asdict() for each in found.packages],
            "libraries": [
                {
                    "name": each.name,
                    "files": each.files,
                    "size": each.size,
                    "code": each.stored_size,
                    "plain": each.plain_size,
                    "targets": {target.target: target.size for target in each.targets},
                }
                for each in found.libraries
            ],
            "targets": [
                {"target": each.target, "size": each.size, "images": each.image_count, "used": each.used}
                for each in found.targets
            ],
            "gpus": found.gpus,
            "code": found.code,
            "plain": found.plain,
        }
        json.dump(content, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return 0
    packages = [
        (f"{each.name} {each.version}", size_text(each.size), size_text(each.code) if each.code else "")
        for each in found.packages
    ]
    _print_table(("package", "size", "GPU code"), packages)
    libraries = [
        (
            each.name,
            size_text(each.size),
            size_text(each.stored_size),
            size_text(each.plain_size) if each.compressed_count else "",
            _targets(each.targets),
        )
        for each in found.libraries
    ]
    _print_table(("library", "size", "GPU code", "decompressed", "targets"), libraries)
    used = [("yes" if each.used else "no",) if found.gpus else () for each in found.targets]
    targets = [
        (each.target or "unknown target", size_text(each.size), str(each.image_count), *last)
        for each, last in zip(found.targets, used, strict=True)
    ]
    _print_table(("target", "decompressed", "images", *(("used here",) if found.gpus else ())), targets)
    if found.gpus and (unused := sum(each.size for each in found.targets if not each.used)):
        tell(f"{size_text(unused)} of {size_text(found.plain)} are for targets that no GPU of this machine uses")
    return 0


def _targets(targets: Iterable[DeviceTarget]) -> str:
    return " ".join(each.target for each in targets)


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        tell_table(headings, rows, _NUMBERS)
        tell("")


def sizes() -> Sizes:
    """Return the sizes of the installed SDK. Raise PackageNotInstalledError without one."""
    installed = current()
    directories = installed.directories
    try:
        gpus = machine_targets()
    except TopologyError:
        gpus = ()
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
