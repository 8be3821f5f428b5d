"""The writer of `_rocm_init.py`, with which a framework brings up the SDK libraries that its own files need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.version import Version

from rocm_sdk import LibraryNotFoundError, RocmSdkError
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.installed.catalog import fits
from rocm_sdk.installed.readers import catalog, inspect_library
from rocm_sdk_build.base.errors import AbsentInputError, PackagingError, WrongUsageError
from rocm_sdk_build.packages.version import check_version

# The libraries that the established build of PyTorch preloads on Linux, in its order.
ESTABLISHED = (
    *("amd_comgr", "amd_smi", "amdhip64", "hiprtc", "hipblas", "hipfft", "hiprand", "hipsparse", "hipsparselt"),
    *("hipsolver", "hipblaslt", "miopen", "hipdnn", "rocm_sysdeps_liblzma", "rocm-openblas", "rocm_smi64"),
    *("rocprofiler-sdk", "rocprofiler-sdk-roctx", "roctracer64", "roctx64", "rccl", "hipfile"),
)


class InitModule(NamedTuple):
    """The text of the module, and the requirement that the framework's metadata must have."""

    text: str
    requirement: str


def shortnames_for(files: Iterable[Path]) -> tuple[str, ...]:
    """Return the libraries of the SDK that the files need by name, each once, in the order of the catalog.

    The needs of these libraries come with them. Raise PackagingError for a file that is not a library, and if the files
    need no library.
    """
    needed = {PurePosixPath(name).name for path in files for name in _needed_by(path)}
    found = tuple(name for name, _, pattern, *_ in catalog() if any(fits(each, pattern) for each in needed))
    if not found:
        raise PackagingError("none of the files needs a library of the SDK by name", "name them: --shortnames NAME...")
    return found


def _needed_by(path: Path) -> tuple[str, ...]:
    try:
        return inspect_library(path).needed
    except RocmSdkError as error:
        kind = AbsentInputError if isinstance(error, LibraryNotFoundError) else PackagingError
        raise kind(f"{path}: {error.detail}", error.fix or "") from error


def established(version: str) -> tuple[str, ...]:
    """Return the established list for an SDK of this version, without the libraries that leave the SDK with it."""
    leaving = {new[0] for old, new in zip(catalog(), catalog(version), strict=True) if old != new}
    return tuple(name for name in ESTABLISHED if name not in leaving)


def checked(shortnames: Sequence[str]) -> tuple[str, ...]:
    """Return the names, each once.

    Raise WrongUsageError for a name that is not in the catalog.
    """
    known = [row[0] for row in catalog()]
    for name in shortnames:
        if name not in known:
            raise WrongUsageError(f"{name!r} is not a library of the SDK", did_you_mean(name, known))
    return tuple(dict.fromkeys(shortnames))


def make(shortnames: Sequence[str], version: str) -> InitModule:
    """Return the module for an SDK of this major and minor version.

    Raise PackagingError if the version is not canonical.
    """
    check_version(version)
    release = Version(version).release
    wanted = f"{release[0]}.{release[1] if len(release) > 1 else 0}.*"
    text = f"""
def initialize():
    import rocm_sdk

    rocm_sdk.initialize_process(
        preload_shortnames=[{", ".join(f"'{name}'" for name in shortnames)}],
        check_version='{wanted}',
    )
"""
    extra = any(row[0] in shortnames and row[1] == "libraries" for row in catalog())
    before = ".dev0" if Version(version).is_prerelease else ""
    bound = f">={wanted[:-2]}{before},=={wanted}" if before else f"=={wanted}"
    return InitModule(text, f"rocm{'[libraries]' if extra else ''}{bound}")
