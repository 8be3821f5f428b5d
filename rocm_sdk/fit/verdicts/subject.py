"""What is checked: from a word of the user to the files that it stands for."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.own_place import scratch_place
from rocm_sdk.base.scratch import scratch_directory
from rocm_sdk.base.value_text import quoted_for_shell, without_passwords
from rocm_sdk.errors import LibraryAccessError, LibraryNotFoundError, RocmSdkError
from rocm_sdk.fit.code.archive_errors import refusal
from rocm_sdk.fit.code.candidate import CODE_ENDINGS
from rocm_sdk.fit.gpu_builds import version_file
from rocm_sdk.installed.catalog import stem
from rocm_sdk.installed.directory_walk import walk
from rocm_sdk.installed.distributions import headers_of, is_of_sdk, normalised

from .requirements import requirements

TYPE_CHECKING = False
if TYPE_CHECKING:
    import importlib.metadata

    from rocm_sdk.installed.view import Installed

_ELF = b"\x7fELF"
_SCRATCH = "rocm-sdk-check-"


class Subject(NamedTuple):
    """The files of one word.

    name is the word, or "SDK". root is the directory that a wheel is unpacked to; else None. files are ELF files (for
    the SDK all files), directories are searched for GPU code. needed_too are the distributions that it requires. names
    are pairs of a path that is not the user's, and its name in messages. distribution is the normalised name of a
    wheel's or an installed distribution, "" for others. version_file is the text of its version.py, tag the tag of its
    file ("cp311-cp311-linux_x86_64"). broken: how many further files are no ELF files, like some of files. for_windows:
    the name of a library for Windows among the files.
    """

    name: str
    kind: str  # "file", "wheel", "directory", "distribution", "SDK"
    files: tuple[str, ...]
    directories: tuple[str, ...]
    root: str | None = None
    needed_too: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    distribution: str = ""
    version: str = ""
    broken: int = 0
    version_file: str = ""
    tag: str = ""
    for_windows: str = ""

    def shown(self, text: str) -> str:
        """Return the text with the user's names of files."""
        for path, name in self.names:
            text = text.replace(path, name)
        return text

    @contextmanager
    def refused_by_name(self) -> Iterator[None]:
        """Yield, and raise the errors of the block with the user's names of files."""
        try:
            yield
        except RocmSdkError as error:
            message, detail = self.shown(error.message), self.shown(error.detail)
            if message == error.message:
                raise
            fix = None if error.fix is None else self.shown(error.fix)
            raise type(error)(message, fix, self.shown(error.path or ""), error.code, detail=detail) from None


class Against(NamedTuple):
    """The SDK that files are checked against: its shared libraries (() without one), its version, its packages."""

    libraries: tuple[str, ...]
    version: str | None = None
    installed: Installed | None = None  # None: a directory


def sdk_subject(directories: tuple[str, ...]) -> Subject:
    """Return the installed SDK, with all its files: whoever reads them finds out which are ELF files."""
    return Subject("SDK", "SDK", tuple(_files_below(directories)), directories)


@contextmanager
def open_subject(word: str) -> Iterator[Subject]:
    """Yield the files of a word. Raise RocmSdkError if there is no such thing."""
    _refuse_unreadable(word)
    if os.path.isdir(word):
        yield Subject(word, "directory", tuple(filter(_is_elf, _files_below((word,)))), (word,))
    elif word.endswith(".whl") and os.path.isfile(word):
        from .wheel import unpacked  # here: its imports take longer than checking a file

        with _scratch(word) as root:
            files, needed, broken, for_windows = unpacked(word, root)
            name, version = of_wheel(word)
            tag = "-".join(os.path.basename(word).removesuffix(".whl").split("-")[-3:])
            named = Subject(word, "wheel", files, (root,), root, needed, ((root, word),), name, version, broken)
            yield named._replace(tag=tag, for_windows=for_windows)
    elif os.path.exists(word):
        files = (word,) if _is_elf(word) and not word.endswith(CODE_ENDINGS) else ()
        with _with_its_kernels(word) as (directories, names):
            yield Subject(word, "file", files, directories, names=names)
    else:
        yield _distribution(word)


def _files_below(directories: tuple[str, ...]) -> Iterator[str]:
    """Yield the files below directories that may be a shared library or program, under their own names.

    Links are not followed.
    """
    for directory in directories:
        for parent, names, files in walk(directory):
            names.sort()
            for name in sorted(files):
                path = os.path.join(parent, name)
                if not name.endswith(CODE_ENDINGS) and os.path.isfile(path) and not os.path.islink(path):
                    yield path


def _is_elf(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except PermissionError:
        return ".so" in os.path.basename(path)  # whoever reads it says what is wrong
    except OSError:
        return False


# Obstacle to a path -> the fix.
_HIDDEN = {
    errno.EACCES: "ask the owner of the directories above it for the right to enter them",
    errno.ELOOP: "name a file: this is a link that leads to itself",
}


def _refuse_unreadable(word: str) -> None:
    """Refuse a file that exists but cannot be read; a word that is not a file may be the name of a distribution."""
    try:
        facts = os.stat(word)
    except OSError as error:
        if fix := _HIDDEN.get(error.errno or 0):
            raise LibraryAccessError(f"{word}: {error.strerror}", fix, word) from error
        return
    except ValueError:
        return  # no path has such a name
    rights, mode = ("rx", os.R_OK | os.X_OK) if stat.S_ISDIR(facts.st_mode) else ("r", os.R_OK)
    if os.access(word, mode):
        return
    is_own = facts.st_uid == os.geteuid()
    fix = f"chmod u+{rights} {quoted_for_shell(word)}" if is_own else "ask its owner for the right to read it"
    raise LibraryAccessError(f"{word}: this user may not read it", fix, word)


@contextmanager
def _scratch(word: str) -> Iterator[str]:
    """Yield a new directory by its real path, which errors name."""
    with ExitStack() as block:
        try:
            scratch = block.enter_context(scratch_directory(Path(scratch_place()).resolve(), _SCRATCH))
            (scratch / "files").mkdir()
        except OSError as error:
            why = f"a directory in {error.filename} cannot be made: {error.strerror}; TMPDIR names another place"
            raise refusal(word, why) from error
        yield str(scratch / "files")


@contextmanager
def _with_its_kernels(path: str) -> Iterator[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """Yield directories with the file, the files that HIP and the library look up beside it, and little else.

    The second value has pairs of names that are not the user's, and those that are.
    """
    directory, name = os.path.split(os.path.abspath(path))
    kernels = os.path.join(directory, stem(name), "library")
    try:
        is_split = _native.device_code(path).kernel_name is not None
    except RocmSdkError:
        is_split = False  # others say what is wrong with the file
    if is_split:  # the places of its archives are relative to its own
        yield (directory,), ()
        return
    with _scratch(path) as place:
        link = os.path.join(place, name)
        os.symlink(os.path.realpath(path), link)
        yield (place, kernels) if os.path.isdir(kernels) else (place,), ((link, path), (place, directory))


def of_wheel(path: str) -> tuple[str, str]:
    """Return the normalised name and the version in the name of a wheel."""
    name, _, rest = os.path.basename(path).partition("-")
    return normalised(name), rest.partition("-")[0]


def _distribution(name: str) -> Subject:
    from rocm_sdk.installed.other_distributions import find

    from .wheel import is_for_windows  # here: its imports take longer than checking a file

    found = find(name)
    if found is None:
        advice = "name a file, a wheel, a directory, or a distribution as `pip list` prints it"
        what = "there is no such file, and no such distribution is installed"
        what = "it is a URL, and nothing is downloaded" if "://" in name else what
        raise LibraryNotFoundError(f"{without_passwords(name)}: {what}", advice, name)
    needed = requirements(found.requires or [])
    files, directories = files_of(found)
    return Subject(
        name,
        "distribution",
        files,
        directories,
        None,
        needed,
        distribution=normalised(name),
        version=found.version,
        version_file=version_file(str(found.locate_file("")), name),
        tag=dict(headers_of((found.read_text("WHEEL") or "").encode())).get("tag", ""),
        for_windows=next((each.name for each in found.files or () if is_for_windows(each.name)), ""),
    )


def files_of(distribution: importlib.metadata.Distribution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ELF files of an installed distribution, and their directories in site-packages."""
    site = str(distribution.locate_file(""))
    paths = (str(distribution.locate_file(file)) for file in distribution.files or ())
    own = tuple(path for path in paths if _is_elf(path))
    tops = dict.fromkeys(os.path.relpath(path, site).partition(os.sep)[0] for path in own)
    return own, tuple(path for top in tops if os.path.isdir(path := os.path.join(site, top)))


def with_required(subject: Subject) -> Subject:
    """Return the subject with the files of the installed distributions that it requires, and that these require.

    Packages of the SDK are left out: the check is against them.
    """
    if subject.kind != "distribution":
        return subject
    from rocm_sdk.installed.other_distributions import find

    files, directories = dict.fromkeys(subject.files), dict.fromkeys(subject.directories)
    seen = {subject.distribution}
    names = list(subject.needed_too)
    for name in names:  # the list grows
        found = None if name in seen or is_of_sdk(name) else find(name)
        seen.add(name)
        if found is not None:
            its_files, its_directories = files_of(found)
            files |= dict.fromkeys(its_files)
            directories |= dict.fromkeys(its_directories)
            names += requirements(found.requires or [])
    return subject._replace(files=tuple(files), directories=tuple(directories))
