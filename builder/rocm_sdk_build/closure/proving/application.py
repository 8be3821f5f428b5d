"""The application in a proof: its files that go into the root, and its modules that are imported there."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk.installed.directory_walk import walk
from rocm_sdk_build.base.scratch import PREFIX
from rocm_sdk_build.closure.choosing.roots import Application, Roots
from rocm_sdk_build.closure.writing.metadata import applying
from rocm_sdk_build.inputs.file_kind import Kind, look_at

# Endings of extension modules: this Python's, and any Python's.
_OWN = tuple(ending for ending in importlib.machinery.EXTENSION_SUFFIXES if ending != ".so")
_TAGGED = (".cpython-", ".abi3.", ".pypy")


class ApplicationFiles(NamedTuple):
    """The files of the applications that go into the root, at the same places.

    `search_path` is the search path of modules. `trees` has for each directory the files in it that go there; the other
    files are named one by one.
    """

    files: tuple[str, ...]
    trees: dict[str, set[str]]
    search_path: tuple[str, ...]


def application_files(roots: Roots) -> ApplicationFiles:
    """Return the files of the applications, and of the distributions that they require."""
    found = dict.fromkeys(roots.files)
    trees: dict[str, set[str]] = {}
    places: dict[str, None] = {}
    for each in roots.applications:
        if each.kind == "distribution":
            for site, path in _files_of_distribution(each.name):
                trees.setdefault(site, set()).add(path)
                places[site] = None
        elif each.kind != "file":
            trees.setdefault(_top_of(each), set()).update(_files_below(each))
            packages = (_package_of(path) for path in each.files)
            places |= dict.fromkeys(str(package.parent) for package in packages if package is not None)
    for files in trees.values():
        found |= dict.fromkeys(sorted(files))
    return ApplicationFiles(tuple(found), trees, tuple(places))


def modules_of(roots: Roots) -> tuple[list[str], list[str]]:
    """Return the modules that are imported, and remarks.

    The modules are packages, and extensions of no package by their paths.
    """
    modules: dict[str, None] = {}
    remarks: list[str] = []
    for each in roots.applications:
        if each.kind == "distribution":
            modules |= dict.fromkeys(_packages_of(each))
            continue
        for path in (path for path in each.files if any(tag in os.path.basename(path) for tag in _TAGGED)):
            package = _package_of(path)
            if not path.endswith(_OWN):
                remarks.append(f"{each.shown(path)}: not imported, it is for another Python")
            elif package is None:
                modules[path] = None
            elif each.kind != "file":
                modules[package.name] = None
    return list(modules), remarks


def _package_of(path: str) -> Path | None:
    """Return the directory of the top-level package that has a module, or None."""
    found = None
    for parent in Path(path).parents:
        if not (parent / "__init__.py").is_file():
            break
        found = parent
    return found


def _packages_of(application: Application) -> list[str]:
    """Return the top-level packages that have ELF files."""
    site = str(importlib.metadata.distribution(application.name).locate_file(""))
    tops = dict.fromkeys(os.path.relpath(path, site).split(os.sep)[0] for path in application.files)
    return [top.partition(".")[0] for top in tops if not top.endswith(".libs") and top != ".."]


def is_program(path: str) -> bool:
    """Return whether the kernel starts a file, so that nothing can open it as a library.

    The proof does not start programs.
    """
    return look_at(Path(path)).kind in (Kind.PROGRAM, Kind.STATIC)


def _top_of(application: Application) -> str:
    return os.path.abspath(application.directory or application.name)


def _files_below(application: Application) -> Iterator[str]:
    """Yield the files below the directory of an application, without scratch directories of this run."""
    for parent, directories, names in walk(_top_of(application)):
        directories[:] = [name for name in directories if not name.startswith(PREFIX)]
        yield from (os.path.join(parent, name) for name in names)


def _files_of_distribution(name: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of site-packages and file, for a distribution and all distributions that it requires.

    The SDK's own packages are not among them: the closure takes their place.
    """
    pending, done = [str(canonicalize_name(name))], set[str]()
    while pending:
        current = pending.pop()
        if current in done or current.startswith(("rocm-sdk-", "rocm-profiler")):
            continue
        done.add(current)
        try:
            found = importlib.metadata.distribution(current)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in found.files or ():
            site = os.path.normpath(str(found.locate_file("")))
            path = os.path.normpath(str(found.locate_file(file)))
            if path.startswith(f"{site}{os.sep}") and os.path.isfile(path) and not path.endswith(".pyc"):
                yield site, path
        pending += [name for name, _ in applying(found.requires or ())]
