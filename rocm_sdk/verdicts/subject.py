"""What is checked: from a word of the user to the files that it stands for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.errors import LibraryNotFoundError, RocmSdkError
from rocm_sdk.targets.coverage import sdk_directories
from rocm_sdk.walking import walk

from .requirements import requirements

_ELF = b"\x7fELF"
_CODE_ENDINGS = (".o", ".co", ".hsaco", ".kpack")  # of files that the linker does not load


class Subject(NamedTuple):
    """The files of one word.

    name is the word, or "SDK". root is a directory that is not the user's, which `name` stands for in what is said;
    None if the files are where they are. files are ELF files, directories are searched for GPU code. needed_too are the
    distributions that it requires.
    """

    name: str
    kind: str  # "file", "wheel", "directory", "distribution", "SDK"
    files: tuple[str, ...]
    directories: tuple[str, ...]
    root: str | None = None
    needed_too: tuple[str, ...] = ()

    def shown(self, text: str) -> str:
        """The text with the user's names of files."""
        return text if self.root is None else text.replace(self.root, self.name)


@contextmanager
def open_subject(word: str | None) -> Iterator[Subject]:
    """The files of a word; None: of the installed SDK. Raises RocmSdkError if there is no such thing."""
    if word is None:
        directories = sdk_directories()
        yield Subject("SDK", "SDK", tuple(elf_files(directories)), directories)
    elif os.path.isdir(word):
        yield Subject(word, "directory", tuple(elf_files((word,))), (word,))
    elif word.endswith(".whl") and os.path.isfile(word):
        from .wheel import unpacked  # here: what it imports takes longer than checking a file

        with tempfile.TemporaryDirectory(prefix="rocm-sdk-check-") as root:
            needed = unpacked(word, root)
            yield Subject(word, "wheel", tuple(elf_files((root,))), (root,), root, needed)
    elif os.path.exists(word):
        files = (word,) if _is_elf(word) and not word.endswith(_CODE_ENDINGS) else ()
        with _with_its_kernels(word) as directories:
            yield Subject(word, "file", files, directories)
    else:
        yield _distribution(word)


def elf_files(directories: tuple[str, ...]) -> Iterator[str]:
    """The shared libraries and programs below directories, each under its own name: links are not followed."""
    for directory in directories:
        for parent, names, files in walk(directory):
            names.sort()
            for name in sorted(files):
                path = os.path.join(parent, name)
                if not os.path.islink(path) and _is_elf(path) and not name.endswith(_CODE_ENDINGS):
                    yield path


def shared_libraries(directories: tuple[str, ...]) -> tuple[str, ...]:
    """The paths below directories that have the names of shared libraries, links among them."""
    return tuple(
        os.path.join(parent, name)
        for directory in directories
        for parent, _, files in walk(directory)
        for name in files
        if ".so" in name
    )


def _is_elf(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


@contextmanager
def _with_its_kernels(path: str) -> Iterator[tuple[str, ...]]:
    """Directories that have the file, and what HIP and the library look up beside it, and as little else as can be."""
    directory, name = os.path.split(os.path.abspath(path))
    kernels = os.path.join(directory, name.partition(".so")[0].removeprefix("lib"), "library")
    try:
        is_split = _native.device_code(path).kernel_name is not None
    except RocmSdkError:
        is_split = False  # what is wrong with the file is said by others
    if is_split:  # the places of its archives are relative to its own
        yield (directory,)
        return
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-check-") as place:
        os.symlink(os.path.realpath(path), os.path.join(place, name))
        yield (place, kernels) if os.path.isdir(kernels) else (place,)


def _distribution(name: str) -> Subject:
    import importlib.metadata

    try:
        found = importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError) as error:
        raise LibraryNotFoundError(
            f"{name}: there is no such file, and no such distribution is installed",
            "name a file, a wheel, a directory, or a distribution as `pip list` prints it",
            name,
        ) from error
    site = str(found.locate_file(""))
    own = [path for path in (str(found.locate_file(file)) for file in found.files or ()) if _is_elf(path)]
    tops = dict.fromkeys(os.path.relpath(path, site).partition(os.sep)[0] for path in own)
    directories = tuple(path for top in tops if os.path.isdir(path := os.path.join(site, top)))
    return Subject(name, "distribution", tuple(own), directories, None, requirements(found.requires or []))
