"""The changes of site-packages for a closure: new files, files that go, commands that go.

Paths are relative to site-packages. Files that no RECORD lists stay, except the caches of modules that go and the
extracted development tree, whose hard links would keep the bytes.
"""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.installed.walking import walk
from rocm_sdk_build.closure.source_sdk import DEVELOPMENT, DEVELOPMENT_TREE, InstalledSdk, SdkPackage
from rocm_sdk_build.closure.writing.site import Site

from .environment import Environment

_DEVELOPMENT_NOTES = (".rocm_sdk_devel.lock", ".rocm_sdk_devel.staging-")


class Changes(NamedTuple):
    """The changes of site-packages.

    `new` maps a path to a complete file, which takes that name. `scripts` are names in the directory of commands.
    """

    new: Mapping[str, Path] = {}
    removed: frozenset[str] = frozenset()
    scripts: tuple[str, ...] = ()

    def with_others(self, other: Changes) -> Changes:
        """Return these changes together with the changes of another distribution."""
        return Changes({**self.new, **other.new}, self.removed | other.removed, (*self.scripts, *other.scripts))

    @property
    def are_none(self) -> bool:
        """True if no file comes or goes, and no command goes."""
        return not (self.new or self.removed or self.scripts)


def changes_of_sdk(environment: Environment, site: str, sdk: InstalledSdk, closure: Site) -> Changes:
    """Return the changes that make the SDK in a directory the closure that was written.

    Raise OSError if a file cannot be read.
    """
    kept = {each.kept.file.path for each in closure.files}
    own = dict(_new_metadata(site, closure))
    new = own | {
        each.kept.file.path: closure.place / each.kept.file.path for each in closure.files if each.is_rewritten
    }
    stays = kept | _metadata_names(closure)
    packages = [package for package in sdk.packages if package.name not in closure.left_alone]
    removed = {path for package in packages for path in _paths_of(site, package) if path not in stays}
    removed |= set(_caches_of(site, removed))
    if DEVELOPMENT not in closure.left_alone:
        removed |= set(_development_files(site, sdk)) - stays
    else:
        removed |= {path for package in packages for path in package.tree}
    scripts = {path for package in packages for path in package.scripts} - closure.scripts
    return Changes(
        new,
        frozenset(path for path in removed if os.path.lexists(os.path.join(site, path))),
        tuple(sorted(filter(None, (_command(environment, site, path) for path in scripts)))),
    )


def _new_metadata(site: str, closure: Site) -> Iterator[tuple[str, Path]]:
    """Yield the metadata that is not there yet, or differs."""
    for path in sorted(_metadata_names(closure)):
        old = os.path.join(site, path)
        is_file = os.path.isfile(old) and not os.path.islink(old)
        if not (is_file and filecmp.cmp(old, closure.place / path, shallow=False)):
            yield path, closure.place / path


def _metadata_names(closure: Site) -> set[str]:
    files = (path for info in closure.place.glob("*.dist-info") for path in info.rglob("*") if path.is_file())
    return {str(path.relative_to(closure.place)) for path in files}


def _paths_of(site: str, package: SdkPackage) -> Iterator[str]:
    """Yield the files of a package, with its metadata and the caches that its installer made."""
    yield from package.files
    yield from _files_below(site, os.path.basename(package.distribution.directory))


def _caches_of(site: str, removed: Iterable[str]) -> Iterator[str]:
    """Yield the caches that Python compiled from modules that go."""
    for path in removed:
        directory, name = os.path.split(path)
        base, extension = os.path.splitext(name)
        if extension != ".py":
            continue
        cache = os.path.join(directory, "__pycache__")
        for each in _files_below(site, cache):
            if os.path.basename(each).startswith(f"{base}.") and each.endswith(".pyc"):
                yield each


def _development_files(site: str, sdk: InstalledSdk) -> Iterator[str]:
    """Yield all files of an extracted development tree, notes and locks included, if its package is installed."""
    if not any(package.name == DEVELOPMENT for package in sdk.packages):
        return
    for name in os.listdir(site):
        if name.startswith((DEVELOPMENT_TREE, *_DEVELOPMENT_NOTES)):
            yield from _files_below(site, name)


def _files_below(site: str, name: str) -> Iterator[str]:
    """Yield the name if a file has it, or else all files and links below the directory of that name."""
    top = os.path.join(site, name)
    try:
        if not stat.S_ISDIR(os.lstat(top).st_mode):
            yield name
    except FileNotFoundError:
        return
    for parent, directories, files in walk(top):
        for each in (*directories, *files):
            path = os.path.join(parent, each)
            if os.path.islink(path) or not os.path.isdir(path):
                yield os.path.relpath(path, site)


def _command(environment: Environment, site: str, path: str) -> str | None:
    """Return the name of a command of the environment to which a row of RECORD leads, or None."""
    directory, name = os.path.split(os.path.normpath(os.path.join(site, path)))
    is_there = os.path.realpath(directory) == environment.scripts and os.path.lexists(os.path.join(directory, name))
    return name if is_there else None
