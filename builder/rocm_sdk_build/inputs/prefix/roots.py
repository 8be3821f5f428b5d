"""The files of directories that are packaged: whole prefixes, store paths, and files that lists name in a system."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.base.named_directory import require_directory
from rocm_sdk_build.inputs.catalog import refuse_name, scan

from .file_list import Listed

USR = "usr/"  # of the image of a system, or of a package: the same as the directory beside it
_LLVM, _COMPILER = "lib/llvm", "bin/clang"
# A directory with one of these files is a system, with files of all its packages.
_OF_SYSTEM = ("etc/os-release", "usr/lib/os-release", "lib/os-release", "os-release")


class Found(NamedTuple):
    """A file or link."""

    root: Path
    path: str  # path below the root, or below its usr; for LLVM's root, the path in a prefix
    source: Path  # path without links in its directories
    is_link: bool


class Search(NamedTuple):
    """The files that were found, and the files that lists name elsewhere."""

    roots: tuple[Path, ...]
    whole: tuple[Path, ...]  # roots in which no list names a file
    found: tuple[Found, ...]
    outside: tuple[str, ...]
    llvm: Path | None  # the root that is LLVM's alone

    def path_of(self, root: Path, source: Path) -> str:
        """Return the path of a file in a root, as `Found` has it."""
        return _path_of(root, source, self.llvm)


def find_files(roots: Iterable[Path], listed: Iterable[Listed], llvm: Path | None = None) -> Search:
    """Return the files of all roots; of a root in which a list names files, only the named ones.

    Without roots, each directory that a list names is a root. `llvm` is one more root, with AMD's LLVM alone. Raise
    PackagingError for a root that is missing, is below another one, or is a whole system without a list.
    """
    named = list(listed)
    given = [Path(os.path.realpath(root)) for root in directories_of(roots)]
    directories = given or [Path(os.path.realpath(each.path)) for each in named if Path(each.path).is_dir()]
    if not directories:
        raise WrongUsageError("no root is given, and no list names a directory", "rocm-sdk-build prefix ROOT...")
    if llvm is not None:
        if not os.path.lexists(llvm / _COMPILER):
            raise PackagingError(f"--llvm {llvm}: has no {_COMPILER}", "name the directory that has AMD's LLVM")
        llvm = Path(os.path.realpath(llvm))
        directories.append(llvm)
    return _find(list(dict.fromkeys(directories)), named if given else [], llvm)


def directories_of(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the roots.

    Raise PackagingError for a root that is not a directory.
    """
    for root in roots:
        require_directory(root, "name the directory that has bin, lib, include")
        yield root


def _find(roots: list[Path], listed: list[Listed], llvm: Path | None) -> Search:
    named: dict[Path, list[Path]] = {root: [] for root in roots}
    outside = []
    deepest_first = sorted(roots, key=lambda root: -len(root.parts))
    for each in listed:
        source = _real(each.path)
        root = next((root for root in deepest_first if root in source.parents), None)
        if root is not None:
            named[root].append(source)
        elif not stat.S_ISDIR(source.lstat().st_mode):
            outside.append(each.path)
    if listed and not any(named.values()):
        raise PackagingError(
            f"{listed[0].line}: {listed[0].path}: nothing that is listed is in {', '.join(map(str, roots))}"
        )
    whole = tuple(root for root in roots if not named[root])
    for root in whole:
        _refuse_to_swallow(root, roots)
    places = ((root, each) for root in roots for each in (_whole(root) if root in whole else _named(root, named[root])))
    found = (Found(root, _path_of(root, source, llvm), source, source.is_symlink()) for root, source in places)
    return Search(tuple(roots), whole, tuple(found), tuple(outside), llvm)


def _path_of(root: Path, source: Path, llvm: Path | None) -> str:
    path = source.relative_to(root).as_posix().removeprefix(USR)
    return os.path.normpath(f"{_LLVM}/{path}") if root == llvm else path


def _refuse_to_swallow(root: Path, roots: list[Path]) -> None:
    if any(os.path.lexists(root / name) for name in _OF_SYSTEM) or root in (Path("/"), Path("/usr")):
        raise PackagingError(
            f"{root}: is a whole system, not just ROCm",
            f"name the files of ROCm's packages: dpkg -L PACKAGE... | rocm-sdk-build prefix {root} --files - ...",
        )
    part = next((other for other in roots if root in other.parents), None)
    if part is not None:
        raise PackagingError(f"{part}: is a part of {root}, which is a root, too", "leave out one of them")


def _real(path: str) -> Path:
    """Return the place of a file or link: links in its directories are followed, and the link itself is not."""
    parent, name = os.path.split(path.rstrip("/") or "/")
    if name in ("", ".", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(parent), name)


def _whole(root: Path) -> Iterator[Path]:
    return (entry.source for entry in scan(root) if entry.kind != "directory")


def _named(root: Path, sources: Iterable[Path]) -> Iterator[Path]:
    """Yield the paths that are files or links, each once, sorted.

    Raise PackagingError for a path of another kind that is not a directory.
    """
    for source in sorted(set(sources)):
        kind = source.lstat().st_mode
        refuse_name(str(source.relative_to(root)), root)
        if stat.S_ISREG(kind) or stat.S_ISLNK(kind):
            yield source
        elif not stat.S_ISDIR(kind):
            raise PackagingError(f"{source}: neither a file nor a directory nor a link")
