"""The exceptions and warnings of rocm_sdk.

Each exception is a RocmSdkError and also the built-in exception that callers of the established API catch. They are
made by the extension, from the C library's errors.
"""


class RocmSdkError(Exception):
    """Something about the ROCm SDK.

    message (str) says what happened and to which file or name, hint (str or None) what can be done about it, path (str
    or None) which file it is about.
    """

    def __init__(self, message: str, hint: str | None = None, path: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n  hint: {hint}")
        self.message = message
        self.hint = hint
        self.path = path

    def __reduce__(self) -> "tuple[type[RocmSdkError], tuple[str, str | None, str | None]]":
        return type(self), (self.message, self.hint, self.path)


class UnknownLibraryError(RocmSdkError, ModuleNotFoundError):
    """No library has this shortname."""


class PackageNotInstalledError(RocmSdkError, ModuleNotFoundError):
    """The package of the SDK that holds the library is not installed."""


class LibraryNotFoundError(RocmSdkError, FileNotFoundError):
    """The package is installed, the library's file is not in it."""


class LibraryAccessError(RocmSdkError, OSError):
    """A file or directory of the SDK cannot be read."""


class BadLibraryError(RocmSdkError, OSError):
    """A file is damaged, is no shared library, or is one for another machine."""


class LibraryLoadError(RocmSdkError, OSError):
    """The dynamic linker refused a library."""


class BadMetadataError(RocmSdkError, ValueError):
    """The SDK's `_dist_info.py` or `dist_info.json` is damaged."""


class VersionMismatchError(RocmSdkError, RuntimeError):
    """The SDK has another version than the caller asked for."""


class EnvironmentOverrideError(RocmSdkError, RuntimeError):
    """An environment variable asks for something that fails; the cause is chained."""


class TopologyError(RocmSdkError, OSError):
    """The kernel's files about the GPUs are damaged, or do not hold still while they are read."""


class UnknownTargetError(RocmSdkError, ValueError):
    """No gfx target or target family has this name, or the target has not got the feature."""


class EmptySelectionError(RocmSdkError, ValueError):
    """No gfx target to build for: an empty list is never the answer, for build systems take it for a default."""


class UnservedTargetError(RocmSdkError, ValueError):
    """The installed libraries have no device code for a target that was asked for."""


class RocmSdkWarning(UserWarning):
    """Something about the ROCm SDK that does not stop the program."""


class RocmLibraryConflictWarning(RocmSdkWarning):
    """The process has a library of the SDK from somewhere else, or in another version."""


class VersionMismatchWarning(RocmSdkWarning):
    """The SDK has another version than the caller asked for."""
