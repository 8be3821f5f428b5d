"""The package that finds, orders, preloads and checks AMD's ROCm libraries that are installed as Python wheels.

    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"], check_version="7.*")  # what a framework needs
    rocm_sdk.preload_for("my_extension.so")  # what a file needs
    rocm_sdk.find_libraries("rocblas")  # the files of libraries
    rocm_sdk.gpus()  # the GPUs of this machine
    rocm_sdk.check_process()  # what is wrong with the libraries in this process

This module runs inside `import torch`. The extension is its only import; the rest of the package is imported when it is
used.
"""

import os

try:
    from ._native import (
        LibraryLocation,
        LoadedLibrary,
        LoadPlan,
        LoadStep,
        load_plan,
        loader_version,
        locate,
        locate_all,
        preload_and_tell_version,
        preload_for,
        preload_libraries,
    )
except ImportError as error:
    from .base.import_failure import explained

    raise explained(error) from None

# For type checkers; at run time, __getattr__ gets these names when they are used first.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from pathlib import Path
    from typing import Any

    from rocm_sdk.errors import (
        BadArchiveError,
        BadLibraryError,
        BadMetadataError,
        DevelopmentTreeError,
        DevelopmentTreeLockedError,
        EmptySelectionError,
        EnvironmentOverrideError,
        LibraryAccessError,
        LibraryLoadError,
        LibraryNotFoundError,
        PackageNotInstalledError,
        RewriteError,
        RocmLibraryConflictWarning,
        RocmSdkError,
        RocmSdkWarning,
        SystemManagedError,
        TopologyError,
        UnknownLibraryError,
        UnknownTargetError,
        UnsupportedTargetError,
        VersionMismatchError,
        VersionMismatchWarning,
    )

    from ._dist_info import CdllsByShortname
    from ._native import (
        Binding,
        BindingPair,
        Bindings,
        Compatibility,
        Coverage,
        CoverageFault,
        CoveredTarget,
        DeviceBundle,
        DeviceCode,
        DeviceImage,
        DeviceTarget,
        Gpu,
        GpuCoverage,
        LibraryCoverage,
        bindings,
        check_gpu_access,
        device_code,
        gpus,
        process_bindings,
    )
    from .base.file_location import FileLocation
    from .problems import Problem as Problem

    Overrides = Mapping[str, str | PathLike[str]] | None
    __version__: str

    def check_process(pid: int | None = None) -> tuple[Problem, ...]:
        """Return what is wrong with the ROCm libraries of a process, by default this one."""

    def coverage(
        gpus: Iterable[str] | None = None, sdk: str | os.PathLike[str] | None = None, *, unofficial: bool = False
    ) -> Coverage:
        """Return which libraries of the SDK, or of a directory, have code for which GPUs, by default this machine's."""

    def loaded_libraries(pid: int | None = None) -> tuple[LoadedLibrary, ...]:
        """Return the ROCm libraries that are in a process, by default this one, whatever loaded them."""

    def find_headers(name: str, *, extract: bool = True) -> FileLocation:
        """Return the include directory of a library or a header."""

    def find_static_library(name: str, *, extract: bool = True) -> FileLocation:
        """Return the static library with this name."""

    def find_bitcode(name: str, *, extract: bool = True) -> FileLocation:
        """Return the device library with this name."""

    def find_tool(name: str, *, extract: bool = True) -> FileLocation:
        """Return the program with this name."""

    def rocm_home() -> Path:
        """Return the directory that serves other tools as ROCM_HOME."""

    _ALL_CDLLS: CdllsByShortname

# Modules that callers use as attributes, without importing them.
_SUBMODULES = ("_devel", "_dist_info", "targets")

# Names whose modules are imported when they are used first.
_MODULES = {
    "FileLocation": "base.file_location",
    "Problem": "problems",
    "check_process": "doctor.subjects.process",
    "coverage": "fit.coverage",
    "find_bitcode": "_devel",
    "find_headers": "_devel",
    "find_static_library": "_devel",
    "find_tool": "_devel",
    "loaded_libraries": "doctor.subjects.process",
    "rocm_home": "_devel",
}

# Names that are not imported above are in errors, or among what the extension makes when it is asked for first.
__all__ = [  # noqa: PLE0604 - each name stands once
    "BadArchiveError",
    "BadLibraryError",
    "BadMetadataError",
    "Binding",
    "BindingPair",
    "Bindings",
    "Compatibility",
    "Coverage",
    "CoverageFault",
    "CoveredTarget",
    "DevelopmentTreeError",
    "DevelopmentTreeLockedError",
    "DeviceBundle",
    "DeviceCode",
    "DeviceImage",
    "DeviceTarget",
    "EmptySelectionError",
    "EnvironmentOverrideError",
    "Gpu",
    "GpuCoverage",
    "LibraryAccessError",
    "LibraryCoverage",
    "LibraryLoadError",
    "LibraryLocation",
    "LibraryNotFoundError",
    "LoadPlan",
    "LoadStep",
    "LoadedLibrary",
    "PackageNotInstalledError",
    "RewriteError",
    "RocmLibraryConflictWarning",
    "RocmSdkError",
    "RocmSdkWarning",
    "SystemManagedError",
    "TopologyError",
    "UnknownLibraryError",
    "UnknownTargetError",
    "UnsupportedTargetError",
    "VersionMismatchError",
    "VersionMismatchWarning",
    "bindings",
    "check_gpu_access",
    "device_code",
    "find_libraries",
    "get_include",
    "gpus",
    "initialize_process",
    "load_plan",
    "loader_version",
    "locate",
    "preload_for",
    "preload_libraries",
    "process_bindings",
    *_MODULES,
]


def find_libraries(*shortnames: str, overrides: "Overrides" = None, fallback: str | None = None) -> "list[Path]":
    """Return the files of the libraries, in the order of the names.

    Optional libraries that are not installed are skipped.
    overrides: files to use instead of the SDK's own, by shortname.
    fallback: where to find a whole ROCm if no package is installed, instead of ROCM_SDK_FALLBACK.

    Raises UnknownLibraryError or PackageNotInstalledError (both ModuleNotFoundError), or LibraryNotFoundError
    (FileNotFoundError); for an SDK that is damaged, or that a variable names wrongly, another RocmSdkError that is an
    ImportError or a FileNotFoundError, with a RocmSdkWarning: callers silently take another ROCm at such an error.
    """
    from pathlib import Path

    try:
        locations = locate_all(*shortnames, overrides=overrides, fallback=fallback)
    except (ImportError, FileNotFoundError) as error:
        from rocm_sdk import errors

        usual = (errors.UnknownLibraryError, errors.PackageNotInstalledError, errors.LibraryNotFoundError)
        is_of_variable = getattr(error, "code", None) == "E-ENV-008"
        if isinstance(error, errors.RocmSdkError) and (is_of_variable or not isinstance(error, usual)):
            errors.warn(f"{error.message}; {error.fix}", errors.RocmSdkWarning)
        raise
    return [Path(location.path) for location in locations if location.path is not None]


def get_include() -> str:
    """Return the directory of the C headers, which holds `rocm_sdk/capsule.h`, for compilers of extension modules."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def initialize_process(
    *,
    preload_shortnames: "Iterable[str] | None" = None,
    rtld_global: bool | None = None,
    env_override: bool = True,
    check_version: "str | re.Pattern[str] | None" = None,
    fail_on_version_mismatch: bool = False,
    unversioned_names: bool | None = None,
    overrides: "Overrides" = None,
    fallback: str | None = None,
    **future: object,
) -> None:
    """Prepare the process for code that uses ROCm: preload libraries and check the SDK's version.

    preload_shortnames: names of the catalog. The libraries are loaded in this order, each with its dependencies.
    rtld_global: whether their symbols join the global scope. None: the symbols of all libraries, except those that
        would take each other's place, or that of another package's copy (`rocm-sdk tree` says which, and why).
        True: the symbols of these too, with a RocmSdkWarning. The symbols of compiler libraries never join it.
    env_override: whether the environment variable ROCM_SDK_PRELOAD_LIBRARIES (names separated by `,` or `;`) adds
        libraries.
    check_version: the expected version of the SDK: a text in which `*` matches any characters, or a compiled pattern
        that must match its beginning.
    fail_on_version_mismatch: raise VersionMismatchError (RuntimeError) instead of warning.
    unversioned_names: let dlopen("libx.so") find a library that was loaded as libx.so.1: all (True) or none (False).
        None: libraries that programs are known to open by such a name; ROCM_SDK_UNVERSIONED_NAMES=1 is all, =0 none.
    overrides: files to use instead of the SDK's own, by shortname; they override ROCM_SDK_LIBRARY_<shortname>.
    fallback: where to find a whole ROCm if no package of the SDK is installed, instead of ROCM_SDK_FALLBACK:
        "prefix:/opt/rocm", "conda", "system", separated by `,`; "" is none.

    Unknown keyword arguments are ignored: callers may be newer than this package. An unknown argument that is probably
    a misspelt known one causes a RocmSdkWarning. Repeated calls and calls from several threads are safe: libraries that
    are already loaded are reused.
    """
    if future:
        from .errors import warn_of_misspelt

        warn_of_misspelt(future, initialize_process)
    if isinstance(preload_shortnames, str | bytes):
        raise TypeError(
            f"preload_shortnames is a list of names, not {preload_shortnames!r}: write [{preload_shortnames!r}]"
        )
    version = None
    if preload_shortnames is not None or fallback is not None:
        shortnames = tuple(preload_shortnames or ())
        version = preload_and_tell_version(shortnames, rtld_global, unversioned_names, overrides, fallback)
    if env_override and (names := os.environ.get("ROCM_SDK_PRELOAD_LIBRARIES")):
        choices = {"overrides": overrides, "fallback": fallback}
        _preload_from_environment(names, rtld_global=rtld_global, unversioned_names=unversioned_names, **choices)
    if check_version is not None:
        _check_version(version or _sdk_version(), check_version, fail_on_version_mismatch)


def _preload_from_environment(names: str, **options: "Any") -> None:
    from .base.value_text import listed

    try:
        preload_libraries(*listed(names), **options)
    except Exception as error:
        from rocm_sdk.errors import EnvironmentOverrideError

        fix = getattr(error, "fix", None) or ""
        raise EnvironmentOverrideError(
            f"cannot preload the libraries of ROCM_SDK_PRELOAD_LIBRARIES={names!r}: {getattr(error, 'message', error)}",
            f"unset ROCM_SDK_PRELOAD_LIBRARIES  # or correct it{fix and f', or: {fix}'}",
            "ROCM_SDK_PRELOAD_LIBRARIES",
        ) from error


def _check_version(version: str | None, wanted: "str | re.Pattern[str]", fails: bool) -> None:
    """Warn, or raise VersionMismatchError, if the SDK's version is not the wanted one.

    version: None if the SDK has packages but no metadata.
    """
    known = version or ""
    if isinstance(wanted, str):
        matches, text, requirement = _matches_wildcard(known, wanted), wanted, f"rocm=={wanted}"
    elif hasattr(wanted, "match"):
        matches, text, requirement = wanted.match(known) is not None, wanted.pattern, None
    else:
        raise TypeError(f"check_version is a text or a compiled pattern, not {wanted!r}")
    if version is not None and matches:
        return
    from rocm_sdk.errors import VersionMismatchError, VersionMismatchWarning, warn

    from .problems import problem

    fix = problem("E-PKG-015", requirement=requirement).fix
    # Tests of callers look for the first words, which are the words of the established loader.
    expectation = f"The program was compiled against a ROCm version matching {text!r}"
    told = "does not say its version" if version is None else f"has version {version}"
    message = f"{expectation}, and the installed SDK {told}"
    if fails:
        raise VersionMismatchError(message, fix)
    warn(f"{message}; {fix}", VersionMismatchWarning)


def _sdk_version() -> str | None:
    from ._native import sdk_version

    return sdk_version()


def _matches_wildcard(text: str, wildcard: str) -> bool:
    """Return whether the whole `text` matches `wildcard`, in which `*` matches any characters."""
    first, *rest = wildcard.split("*")
    if not rest:
        return text == wildcard
    last = rest.pop()
    position = len(first)
    for part in rest:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return text.startswith(first) and text.endswith(last) and len(text) - len(last) >= position


def __dir__() -> list[str]:
    return [*__all__, "__version__", "targets"]


def _module(name: str) -> object:
    """Import a module of the package by its name in it, and return it.

    importlib.import_module does the same; its import takes as long as the imports of many modules.
    """
    import sys

    __import__(f"rocm_sdk.{name}")
    return sys.modules[f"rocm_sdk.{name}"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        try:
            if (version := _sdk_version()) is not None:
                return version
        except ModuleNotFoundError as error:
            raise AttributeError(f"module 'rocm_sdk' has no attribute '__version__': {error}") from error
    if name == "_ALL_CDLLS":
        from ._dist_info import ALL_CDLLS

        return ALL_CDLLS
    if name in _SUBMODULES:
        return _module(name)
    if name in _MODULES:
        return getattr(_module(_MODULES[name]), name)
    if name in __all__:
        return getattr(_module("errors" if name.endswith(("Error", "Warning")) else "_native"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
