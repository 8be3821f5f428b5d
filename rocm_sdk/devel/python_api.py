"""The established API of the development tree: its directory, and links to the files of device packages."""

from __future__ import annotations

import os
from pathlib import Path

from .root import development_root, home_directory
from .stamp import is_current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk.base.file_location import FileLocation
    from rocm_sdk.base.reporter import Reporter


def get_devel_root() -> Path:
    """Return the directory of the development tree, which the first call extracts.

    Raises PackageNotInstalledError (ModuleNotFoundError) if rocm-sdk-devel is not installed, SystemManagedError
    (ImportError) if pip could not remove the tree, DevelopmentTreeError (OSError) if it cannot be made. Prints nothing,
    unless ROCM_SDK_VERBOSE=1.
    """
    return Path(development_root(_make_reporter))


def rocm_home() -> Path:
    """Return the directory that serves other tools as ROCM_HOME and ROCM_PATH.

    The directory is the development tree, which the first call extracts, if rocm-sdk-devel is installed, else the
    directory of the core package. Raises PackageNotInstalledError if no SDK is installed, and the errors of
    get_devel_root.
    """
    return Path(home_directory(_make_reporter))


def find_headers(name: str, *, extract: bool = True) -> FileLocation:
    """Return the include directory of a library or a header.

    name: "hip", "rocblas", "hip/hip_runtime.h". extract: extract the development tree if the runtime packages do not
    have the header. Raises LibraryNotFoundError (FileNotFoundError) that says what was tried, UnknownLibraryError
    (ModuleNotFoundError) for a text that cannot be a name, and the errors of get_devel_root. The same holds for the
    functions below.
    """
    from .named_files import HEADERS, find

    return find(HEADERS, name, _make_reporter if extract else None)


def find_static_library(name: str, *, extract: bool = True) -> FileLocation:
    """Return the static library with this name: "rocblas" is librocblas.a."""
    from .named_files import STATIC_LIBRARY, find

    return find(STATIC_LIBRARY, name, _make_reporter if extract else None)


def find_bitcode(name: str, *, extract: bool = True) -> FileLocation:
    """Return the device library with this name: "ocml" is ocml.bc."""
    from .named_files import BITCODE, find

    return find(BITCODE, name, _make_reporter if extract else None)


def find_tool(name: str, *, extract: bool = True) -> FileLocation:
    """Return the program with this name: "hipcc", "rocminfo", "clang++"."""
    from .named_files import TOOL, find

    return find(TOOL, name, _make_reporter if extract else None)


def _reconcile_device_links(site: str | Path, devel_dir: str | Path, expected_version: str) -> int:
    """Link the files of device packages in `site` into the tree `devel_dir`. Return how many links are new.

    expected_version: the version of the SDK; packages of other versions are skipped with a warning, post-releases
    aside.
    """
    site, tree = os.path.abspath(site), os.path.abspath(devel_dir)
    if is_current(site, tree, expected_version):
        return 0
    from rocm_sdk.errors import RocmSdkWarning, warn

    from .make_ready import DEFAULT_TIMEOUT
    from .update import update_if_changed

    result = update_if_changed(site, tree, expected_version, DEFAULT_TIMEOUT, _make_reporter().say)
    for notice in result.notices:
        warn(notice, RocmSdkWarning)
    return result.device_links


def _without_post_release(version: str) -> str:
    """Return a version without its post-release: `7.14.0.post1` is `7.14.0`.

    Tests of the established loader call it.
    """
    from rocm_sdk.installed.distributions import without_post_release

    return without_post_release(version)


def _make_reporter() -> Reporter:
    from rocm_sdk.base.reporter import reporter_of_environment

    return reporter_of_environment()
