"""The writer of packages as pip installs them: a tree like site-packages for each, from which its wheel is made."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk_build.code import stack_decision as executable_stack
from rocm_sdk_build.code.patchelf import Shape, set_search_path
from rocm_sdk_build.code.sparse_copy import copy_file
from rocm_sdk_build.files.original_bytes import Rest
from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.inputs.file_kind import Kind
from rocm_sdk_build.inputs.rules import Script

from .debug_files import DebugFiles
from .dist_info import SdkFacts, module_text, python_text
from .population import PlacedFile, Population
from .trampoline import place_of, write_stub, write_trampoline

_SCRIPTS = Path(__file__).with_name("script_template.py")


class Package(NamedTuple):
    """A distribution that is written."""

    logical_name: str
    distribution: str
    summary: str
    pure_module: str | None  # None: the package has no module of its own
    platform_directory: str | None
    family: str | None = None
    requires: tuple[str, ...] = ()
    search: tuple[str, ...] = ()  # directories of core in which its libraries look
    own_search: tuple[str, ...] = ()  # directories of the package in which its libraries look before
    shape: Shape = Shape.RPATH

    @property
    def file_name(self) -> str:
        """The part of a wheel's name before the version, in the one form that installers and indices expect of it."""
        return canonicalize_name(self.distribution).replace("-", "_")


class Staged(NamedTuple):
    """The files of a package that are not below its directory, by their names in the wheel."""

    unchanged: dict[str, Path]  # files without changes
    rests: dict[str, Rest]  # parts that files in the directory lack


class Changes(NamedTuple):
    """The changes of a package's files.

    `without_stack` has the paths of libraries that are not to ask for an executable stack. `debug` is None if all files
    keep their debug information.
    """

    without_stack: frozenset[str] = frozenset()
    debug: DebugFiles | None = None


def is_changed(package: Package, file: PlacedFile, changes: Changes) -> bool:
    """Return whether the package has a copy of a file.

    A copy has a search path, no debug information, or no wish for an executable stack.
    """
    is_split = changes.debug is not None and changes.debug.takes(file.source)
    return not file.link and (_is_searching(package, file) or is_split or file.path in changes.without_stack)


def _is_searching(package: Package, file: PlacedFile) -> bool:
    return bool(package.search) and _shape_of(package, file) is not Shape.NONE


def _shape_of(package: Package, file: PlacedFile) -> Shape:
    """Return the way in which a file finds libraries.

    A program starts before any loader helps, and only DT_RPATH also counts for what its libraries need.
    """
    other = package.shape if file.facts.kind is Kind.LIBRARY else Shape.NONE
    return Shape.RPATH if file.facts.kind is Kind.PROGRAM else other


def stage_runtime(package: Package, population: Population, sdk: SdkFacts, site: Path, changes: Changes) -> Staged:
    """Write the own files of a runtime package below the new directory `site`, without its dist-info.

    Return the package's files that are not below `site`.
    """
    assert package.platform_directory is not None
    root = site / package.platform_directory
    staged = Staged({}, {})
    for file in population.files.values():
        name = f"{package.platform_directory}/{file.path}"
        if file.link:
            (root / file.path).parent.mkdir(parents=True, exist_ok=True)
            write_stub(root / file.path, file.link)
        elif is_changed(package, file, changes):
            (root / file.path).parent.mkdir(parents=True, exist_ok=True)
            if changes.debug is not None and changes.debug.takes(file.source):
                changes.debug.strip(file.source, root / file.path)
                rest = None
            else:
                rest = copy_file(file.source, root / file.path)
            if _is_searching(package, file):
                entries = search_entries(package, file.path, sdk)
                rest = set_search_path(root / file.path, entries, rest, _shape_of(package, file))
            if file.path in changes.without_stack:
                executable_stack.clear(root / file.path)
            if rest is not None:
                staged.rests[name] = rest
        else:
            staged.unchanged[name] = file.source
    if package.logical_name != "device":  # the directory of a device package belongs to the libraries package
        write_text(root / "__init__.py", "")
    else:
        _write_link_manifest(package, population, sdk, root)
    if package.pure_module is not None:
        write_pure_module(package, sdk, site)
    return staged


def members_of(site: Path, dist_info: str, more: Mapping[str, Path] = MappingProxyType({})) -> dict[str, Path]:
    """Return the files of a wheel except RECORD, by their names in the wheel.

    The order is the order in the wheel: files of dist-info are the last.
    """
    own = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    own.pop(f"{dist_info}/RECORD", None)
    found = {**more, **own}
    return {name: found[name] for name in sorted(found, key=lambda name: (name.startswith(f"{dist_info}/"), name))}


def write_pure_module(package: Package, sdk: SdkFacts, site: Path) -> None:
    """Write the module that tells the version."""
    assert package.pure_module is not None
    module = site / package.pure_module
    write_text(module / "__init__.py", module_text(package.summary))
    write_text(module / "_dist_info.py", python_text(package.logical_name, sdk, package.family))


def write_scripts(
    package: Package, population: Population, scripts: Iterable[Script], sdk: SdkFacts, site: Path
) -> dict[str, str]:
    """Write a command for each program of the package: a program of its own, as far as the compiler can make it.

    Return the entry points of the other commands; these are functions of the module `_cli`, which has a function for
    each command.
    """
    assert package.pure_module is not None
    assert package.platform_directory is not None
    own = [script for script in scripts if script.path in population.files]
    base = f"{package.file_name}-{sdk.version}"
    place = place_of(package.platform_directory, sdk.nonce, f"{base}.dist-info")
    lines = [f"PLATFORM_DIRECTORY = {package.platform_directory!r}"]
    lines += [f"DEVEL_DIRECTORY = {place.devel!r}", f"CORE_DIRECTORY = {place.core!r}"]
    entry_points = {}
    for script in own:
        entry_points[script.name] = entry_point_of(package.pure_module, script.name)
        function = entry_points[script.name].rpartition(":")[2]
        lines += ["", "", f"def {function}() -> None:", f"    start({script.path!r}, {script.expands})"]
    text = _SCRIPTS.read_text(encoding="utf-8") + "\n".join(lines) + "\n"
    write_text(site / package.pure_module / "_cli.py", text)
    directory = site / f"{base}.data/scripts"
    are_native = all(write_trampoline(directory / script.name, script, place) for script in own)
    if not are_native:
        shutil.rmtree(site / f"{base}.data")
    return {} if are_native else entry_points


def entry_point_of(module: str, command: str) -> str:
    """Return the function of a package's module that starts the program of a command."""
    return f"{module}._cli:{re.sub(r'[^0-9A-Za-z]', '_', command.replace('+', 'p'))}"


def search_entries(package: Package, path: str, sdk: SdkFacts) -> list[str]:
    """Return the entries that a file's search path gets behind its own entries.

    The entries are directories of the file's package and of core, relative to the file.
    """
    assert package.platform_directory is not None
    parent = PurePosixPath(path).parent
    own = [os.path.relpath(directory, parent) for directory in package.own_search]
    up = "/".join([".."] * len(PurePosixPath(package.platform_directory, parent).parts))
    core = [f"{up}/_rocm_sdk_core{sdk.nonce}/{directory}" for directory in package.search]
    return ["$ORIGIN" if each == "." else f"$ORIGIN/{each}" for each in (*own, *core)]


def _write_link_manifest(package: Package, population: Population, sdk: SdkFacts, root: Path) -> None:
    """Write the list of the links that the development tree gets to a device package's files."""
    links = [
        {"relpath": path, "target": "/".join([*[".."] * len(PurePosixPath(path).parts), root.name, path])}
        for path in sorted(population.files)
    ]
    text = json.dumps({"version": sdk.version, "links": links}, indent=2) + "\n"
    write_text(root / ".devel_links" / f"{package.family}.json", text)


def write_dist_info(directory: Path, metadata: str, wheel: str, scripts: Mapping[str, str]) -> None:
    """Write METADATA, WHEEL and, if there are scripts, entry_points.txt."""
    write_text(directory / "METADATA", metadata)
    write_text(directory / "WHEEL", wheel)
    if scripts:
        lines = ["[console_scripts]", *(f"{command} = {target}" for command, target in scripts.items())]
        write_text(directory / "entry_points.txt", "\n".join(lines) + "\n")
