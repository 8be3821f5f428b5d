"""The needs of a frozen program with rocm_sdk: modules that are imported by name, and the SDK's packages as they are.

The packages are found as directories on sys.path, so their files stay files, in their layout.
"""

import os
from collections.abc import Iterator

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, logger  # type: ignore[import-untyped]

from rocm_sdk._native import package_directory
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.directory_walk import walk

_PACKAGES = ("core", "libraries", "profiler")
_LARGE = 500_000_000  # bytes


def _files_below(directory: str) -> Iterator[tuple[str, str]]:
    """Yield each file of a package, and the directory of the program that it goes to."""
    site = os.path.dirname(directory)
    for root, directories, names in walk(directory):
        directories[:] = [name for name in directories if name != "__pycache__"]
        for name in names:
            yield os.path.join(root, name), os.path.relpath(root, site)


def _package_files() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            directory = package_directory(package)
        except RocmSdkError as error:
            logger.info("rocm_sdk: %s", error.message)
            continue
        yield from _files_below(directory)
        pure = os.path.join(os.path.dirname(directory), f"rocm_sdk_{package}")
        if os.path.isdir(pure):
            yield from _files_below(pure)


def _is_of_programs(module: str) -> bool:
    """Return whether a module is for programs, and not for PyInstaller or tests.

    The module rocm_sdk.testing would bring pytest along.
    """
    return module != "rocm_sdk.testing" and "_pyinstaller" not in module


def _warn_of_size(files: list[tuple[str, str]]) -> None:
    """Say how large the SDK is that goes into the program, and what makes it smaller."""
    size = sum(os.stat(path).st_size for path, _ in files)
    if size >= _LARGE:
        logger.warning(
            "rocm_sdk: the program gets the whole SDK, %s in %s. The files that the program needs are smaller:\n"
            "  rocm-sdk-build closure --for EXTENSION --gpu TARGETS --output small\n"
            '  ROCM_SDK_ROOT="$PWD/small" pyinstaller ...',
            size_text(size),
            counted(len(files), "file"),
        )


hiddenimports = collect_submodules("rocm_sdk", filter=_is_of_programs)
_files = [*_package_files()]
_warn_of_size(_files)
datas = [*_files, *collect_data_files("rocm_sdk", excludes=["include"])]
