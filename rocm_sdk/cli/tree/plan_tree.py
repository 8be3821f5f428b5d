"""The load plan with its cost: the size of each file, and the time of each step that has been loaded."""

import os
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from rocm_sdk._native import Bindings, LoadStep, plan_and_bindings, preload_libraries, preloaded_libraries


class File(NamedTuple):
    """A file that comes into the process: its path, its path relative to site-packages, its size in bytes."""

    path: str
    location: str
    size: int

    @property
    def name(self) -> str:
        """The file's name, which in an SDK is the SONAME."""
        return os.path.basename(self.path)


class FileStep(NamedTuple):
    """The needs of a file that is no library of the SDK, with the fields of a step of the plan.

    method: "read"; "named" for a library of the SDK that such a file opens by name; "answered" for one whose name a
    plain dlopen does not find. answer: the file that answers to that name, in words.
    """

    path: str
    soname: str | None
    reason: str
    members: tuple[str, ...]
    needed: tuple[str, ...]
    outside: tuple[str, ...]
    missing: tuple[str, ...]
    shortname: str | None = None
    method: str = "read"
    requested: bool = True
    rtld_global: bool = False
    names: tuple[tuple[str, str], ...] = ()
    brought_by: tuple[str, ...] = ()  # not known
    answer: str | None = None


class Branch(NamedTuple):
    """A step of the plan, or a file with its needs.

    brings: the files that come with it and with no step before it, without its own file.
    """

    step: LoadStep | FileStep
    file: File
    brings: tuple[File, ...]
    seconds: float | None  # in dlopen; None: it was not loaded, or was already in the process


class Tree(NamedTuple):
    """The steps in their order. missing: DT_NEEDED entries that nothing provides."""

    branches: tuple[Branch, ...]
    missing: tuple[str, ...]

    @property
    def files(self) -> dict[str, File]:
        """The files by path, each once."""
        found = [file for branch in self.branches for file in (branch.file, *branch.brings)]
        return {file.path: file for file in found}

    @property
    def size(self) -> int:
        """The size of all files together, in bytes."""
        return sum(file.size for file in self.files.values())

    @property
    def seconds(self) -> float | None:
        """The time of all steps together, in seconds; None if nothing was loaded."""
        times = [branch.seconds for branch in self.branches if branch.seconds is not None]
        return sum(times) if times else None


def plan_tree(
    shortnames: tuple[str, ...] | None, files: tuple[str, ...] = (), *, has_bindings: bool = False
) -> tuple[Tree, Bindings | None]:
    """Return the plan of these libraries (None: all that are installed), and its bindings; load nothing.

    A single look at the SDK tells both. Raises the errors of load_plan() and bindings().
    """
    plan, bindings, core = plan_and_bindings(shortnames, files, has_bindings)
    site = os.path.dirname(core)
    seen: set[str] = set()
    branches = []
    for step in plan.steps:
        seen.add(step.path)
        new = [path for path in step.members if path not in seen]
        seen.update(new)
        branches.append(Branch(step, file_at(step.path, site), tuple(file_at(path, site) for path in new), None))
    return Tree(tuple(branches), plan.missing), bindings


def _requested(tree: Tree) -> tuple[str, ...]:
    """Return the short names of the libraries that were asked for."""
    names = (branch.step.shortname for branch in tree.branches if branch.step.requested)
    return tuple(filter(None, names))


def loaded(tree: Tree, shortnames: tuple[str, ...] | None) -> Tree:
    """Load the libraries of a tree, and return the tree with the times. Raise the errors of preload_libraries()."""
    preload_libraries(*(_requested(tree) if shortnames is None else shortnames))
    seconds = dict(own_seconds())
    return tree._replace(
        branches=tuple(branch._replace(seconds=seconds.get(branch.file.path)) for branch in tree.branches)
    )


def own_seconds() -> Iterator[tuple[str, float]]:
    """Yield the path of each library that was loaded, and its time.

    The time is without the time of libraries that it opens at run time.
    """
    libraries = preloaded_libraries()
    for number, library in enumerate(libraries):
        others = takewhile(lambda other: not other.requested, libraries[number + 1 :]) if library.requested else ()
        if not library.already_loaded and library.location.path is not None:
            yield library.location.path, (library.seconds or 0) - sum(other.seconds or 0 for other in others)


def file_at(path: str, site: str) -> File:
    """Return the file of this path. Raise OSError."""
    location = path.removeprefix(f"{site}/")
    return File(path, location, os.stat(path).st_size)
