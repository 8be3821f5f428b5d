"""The files of the SDK's packages that go into a frozen program, in their layout."""

import os
from collections.abc import Callable, Iterator

from rocm_sdk._native import package_directory
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.errors import RocmSdkError

from .directory_walk import walk

_PACKAGES = ("core", "libraries", "profiler")
_LARGE = 500_000_000  # bytes


def package_files(say: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    """Yield each file of the packages, and the directory in the program that it goes to.

    say: called with a message about a missing package.
    """
    for package in _PACKAGES:
        try:
            directory = package_directory(package)
        except RocmSdkError as error:
            say(error.message)
            continue
        site = os.path.dirname(directory)
        for place in filter(os.path.isdir, (directory, os.path.join(site, f"rocm_sdk_{package}"))):
            for root, directories, names in walk(place):
                directories[:] = [name for name in directories if name != "__pycache__"]
                for name in names:
                    yield os.path.join(root, name), os.path.relpath(root, site)


def warning_of_size(files: list[tuple[str, str]]) -> str | None:
    """Return words for the size of the SDK in the program, and what makes it smaller; None if it is small."""
    size = sum(os.stat(path).st_size for path, _ in files)
    if size < _LARGE:
        return None
    return (
        f"the program gets the whole SDK, {size_text(size)} in {counted(len(files), 'file')}."
        " The files that the program needs are smaller:\n"
        "  rocm-sdk-build closure --for EXTENSION --gpu TARGETS --output small\n"
        '  ROCM_SDK_ROOT="$PWD/small" pyinstaller ...'
    )
