"""The roots that the user names: applications, libraries and tools, as files and names."""

from __future__ import annotations

import importlib.metadata
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipInfo

from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.fit.code.zip_file import open_zip
from rocm_sdk.fit.verdicts.subject import Subject, open_subject
from rocm_sdk.installed.init_module import preload_names
from rocm_sdk.installed.readers import catalog
from rocm_sdk_build.base.damaged import package_damage, refusing_damage
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.base.members import unpack

_INIT = "_rocm_init.py"
_DEPTH = 3  # directories below a wheel or directory that may hold a framework's module


class Application(NamedTuple):
    """A word of `--for`: an application.

    `files` are its ELF files, and `preloads` the libraries that its `_rocm_init.py` lists. `shown` returns a path as
    the user knows it: the path of a wheel's file begins with the wheel.
    """

    name: str
    kind: str  # "file", "wheel", "directory", "distribution"
    files: tuple[str, ...]
    preloads: tuple[str, ...]
    requires: tuple[str, ...]  # requirements of its metadata (Requires-Dist)
    directory: str | None  # directory of a wheel that was unpacked

    def shown(self, path: str) -> str:
        """Return the path of one of the application's files as the user knows it."""
        if self.directory is not None:
            return f"{self.name}/{os.path.relpath(path, self.directory)}"
        return path


class Roots(NamedTuple):
    """All roots that the user names; short names are of the catalog, each once."""

    applications: tuple[Application, ...]
    libraries: tuple[str, ...]
    preloads: tuple[str, ...]
    tools: tuple[str, ...]

    @property
    def preloaded(self) -> tuple[str, ...]:
        """The short names that are preloaded together, in their order: the user's, then the applications'."""
        names = (*self.preloads, *(name for each in self.applications for name in each.preloads))
        return tuple(dict.fromkeys(names))

    @property
    def shortnames(self) -> tuple[str, ...]:
        """All short names, in the order in which they are planned."""
        return tuple(dict.fromkeys((*self.preloaded, *self.libraries)))

    @property
    def files(self) -> tuple[str, ...]:
        """The ELF files of all applications, each once."""
        return tuple(dict.fromkeys(path for each in self.applications for path in each.files))

    def shown(self, path: str) -> str:
        """Return the path of an application's file as the user knows it."""
        return next((each.shown(path) for each in self.applications if path in each.files), path)


@contextmanager
def open_roots(
    words: Iterable[str], libraries: Sequence[str], preloads: Sequence[str], tools: Sequence[str]
) -> Iterator[Roots]:
    """Yield the roots of a command line; wheels are unpacked for the time of the block.

    Raise WrongUsageError for a short name that is not in the catalog, and if nothing is named. Raise RocmSdkError for a
    word that is neither a file nor a distribution.
    """
    for name in (*libraries, *preloads):
        _refuse_unknown(name, "")
    with ExitStack() as block:
        applications = tuple(_application(word, block) for word in words)
        roots = Roots(applications, tuple(libraries), tuple(preloads), tuple(tools))
        if not (applications or libraries or preloads or tools):
            raise WrongUsageError("nothing is named that the SDK is for", "--for torch, --library hipsparse")
        yield roots


def _application(word: str, block: ExitStack) -> Application:
    subject = block.enter_context(open_subject(word))
    if subject.kind == "wheel" and subject.root is not None:
        _unpack_rest(word, Path(subject.root))
    names = tuple(dict.fromkeys(_preloads_of(subject, word)))
    if not subject.files and not names:
        raise PackagingError(f"{word}: has neither ELF files nor a list of libraries ({_INIT})", "name what is run")
    requires = subject.needed_too
    if subject.kind == "distribution":
        requires = tuple(importlib.metadata.requires(word) or ())
    return Application(word, subject.kind, tuple(map(os.path.abspath, subject.files)), names, requires, subject.root)


def _unpack_rest(wheel: str, directory: Path) -> None:
    """Unpack the members of a wheel that a check does not read, but its import does: the modules."""

    def refuse(what: str) -> PackagingError:
        return PackagingError(f"{wheel}: {what}", "get the wheel from where it was made")

    def no_room(size: int, free: int) -> PackagingError:
        what = f"{wheel}: its members take {size} bytes, and {tempfile.gettempdir()} has {free} free"
        return PackagingError(what, "TMPDIR names another place")

    def is_there(member: ZipInfo) -> bool:
        """Return whether a member is there with its content; a check writes some members without content."""
        path = directory / member.filename
        return path.is_dir() or (path.is_file() and path.stat().st_size == member.file_size)

    with open(wheel, "rb") as file, open_zip(wheel, file) as archive, refusing_damage(package_damage(Path(wheel))):
        unpack(archive, str(directory), refuse, no_room, is_there=is_there)


def _preloads_of(subject: Subject, word: str) -> Iterator[str]:
    for path in _init_modules(subject.directories, subject.kind, word):
        try:
            names = preload_names(str(path))
        except (OSError, ValueError) as error:
            shown = subject.shown(str(path))
            raise PackagingError(f"{shown}: cannot be read as a list of libraries: {error}") from error
        for name in names:
            _refuse_unknown(name, f"{word}: {path.name}: ")
        yield from names


def _init_modules(directories: Iterable[str], kind: str, word: str) -> list[Path]:
    """Return the modules in which frameworks list the libraries that they preload."""
    if kind == "file":
        return []
    if kind == "distribution":
        found = importlib.metadata.distribution(word)
        listed = (file for file in found.files or () if file.name == _INIT and len(file.parts) <= _DEPTH)
        return [path for path in sorted(Path(str(found.locate_file(file))) for file in listed) if path.is_file()]
    below = (path for each in directories for level in range(_DEPTH) for path in Path(each).glob("*/" * level + _INIT))
    return sorted(path for path in below if path.is_file())


def _refuse_unknown(name: str, where: str) -> None:
    known = [row[0] for row in catalog()]
    if name not in known:
        fix = did_you_mean(name, known) or "`rocm-sdk list` lists them"
        kind = PackagingError if where else WrongUsageError
        raise kind(f"{where}{name!r} is not a library of the SDK", fix)
