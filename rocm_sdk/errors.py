"""The exceptions and warnings of rocm_sdk.

Each exception is a RocmSdkError and also the built-in exception that callers of the established API catch. The
extension creates them from the C library's errors. They may hold text of any file. Their texts (`str`, a traceback, a
printed warning) are harmless; their attributes are exact.
"""

from .base.value_text import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Protocol

    from ._native import Code

    class Described(Protocol):
        """What this module uses of a rocm_sdk.Problem, which is in a higher layer."""

        @property
        def facts(self) -> dict[str, str]:
            """The values that its texts name."""


class RocmSdkError(Exception):
    """The base class of the exceptions of this package.

    message (str) says what happened and to which file or name, fix (str or None) what to do about it, path (str or
    None) which file it concerns, and code (str) which kind of problem it is: see `rocm-sdk explain CODE`. detail (str)
    is the message without the path that it begins with. problem (Problem or None) has the same with its cause, as
    `rocm-sdk test` reports it.
    """

    code: "Code" = "E-SDK-001"

    def __init__(
        self,
        message: str,
        fix: str | None = None,
        path: str | None = None,
        code: "Code | None" = None,
        problem: "Described | None" = None,
        *,
        detail: str | None = None,
    ) -> None:
        self.code = code or type(self).code
        first_line = f"{harmless(message)} [{self.code}]"
        super().__init__(first_line if fix is None else f"{first_line}\n  fix: {harmless(fix)}")
        self.message = message
        self.detail = detail or message
        self.fix = fix
        self.path = path
        self.problem = problem

    @property
    def facts(self) -> "dict[str, str]":
        """The values that the texts of the problem name."""
        return self.problem.facts if self.problem is not None else {"detail": self.message}

    def __reduce__(self) -> "tuple[type[RocmSdkError], tuple[object, ...], dict[str, object]]":
        return type(self), (self.message, self.fix, self.path, self.code, self.problem), {"detail": self.detail}


class UnknownLibraryError(RocmSdkError, ModuleNotFoundError):
    """No library has this shortname."""

    code = "E-API-004"


class PackageNotInstalledError(RocmSdkError, ModuleNotFoundError):
    """The package of the SDK that contains the library is not installed."""

    code = "E-PKG-014"


class LibraryNotFoundError(RocmSdkError, FileNotFoundError, IndexError):
    """The package is installed, but does not contain the library.

    An IndexError too, as the next two: torch's compile_kernel takes the library that is in the process if
    find_libraries raises one.
    """

    code = "E-API-001"


class LibraryAccessError(RocmSdkError, OSError, IndexError):
    """A file or directory of the SDK cannot be read."""

    code = "E-FILE-007"


class BadLibraryError(RocmSdkError, OSError, IndexError):
    """A file is damaged, is not a shared library, or is one for another machine."""

    code = "E-LIB-006"


class LibraryLoadError(RocmSdkError, OSError):
    """The dynamic linker refused a library."""

    code = "E-LIB-001"


class BadMetadataError(RocmSdkError, ValueError):
    """The SDK's `_dist_info.py` or `dist_info.json` is damaged."""

    code = "E-PKG-013"


class VersionMismatchError(RocmSdkError, RuntimeError):
    """The SDK has another version than the caller asked for."""

    code = "E-PKG-015"


class EnvironmentOverrideError(RocmSdkError, RuntimeError):
    """An environment variable asks for something that fails; the cause is chained."""

    code = "E-ENV-007"


class TopologyError(RocmSdkError, OSError):
    """The kernel's files about the GPUs are damaged, or change while they are read."""

    code = "E-GPU-004"


class UnknownTargetError(RocmSdkError, ValueError):
    """No gfx target or target family has this name, or the target does not have the feature."""

    code = "E-GPU-005"


class EmptySelectionError(RocmSdkError, ValueError):
    """No gfx target to build for. Never an empty list, because build systems replace it by a default."""

    code = "E-GPU-006"


class UnsupportedTargetError(RocmSdkError, ValueError):
    """The installed libraries have no device code for a target that was asked for."""

    code = "E-GPU-002"


class RewriteError(RocmSdkError, ValueError):
    """A file of GPU code cannot be rewritten; nothing was changed."""

    code = "E-CODE-010"


class DevelopmentTreeError(RocmSdkError, OSError):
    """The development tree cannot be made or changed: not enough disk space, no permission, or a concurrent change."""

    code = "E-DEVEL-008"


class BadArchiveError(RocmSdkError, ValueError):
    """The archive of the development tree is damaged, or has a member that is not allowed."""

    code = "E-DEVEL-009"


class DevelopmentTreeLockedError(RocmSdkError, TimeoutError):
    """Another process works on the development tree for longer than the time limit."""

    code = "E-DEVEL-010"


class SystemManagedError(RocmSdkError, ImportError):
    """The development package has no RECORD, so pip could not remove the tree."""

    code = "E-DEVEL-011"


class RocmSdkWarning(UserWarning):
    """The base class of the warnings of this package."""

    def __init__(self, message: str) -> None:
        super().__init__(harmless(message))


class RocmLibraryConflictWarning(RocmSdkWarning):
    """A library of the SDK is already loaded from outside the SDK, or in another version."""


class VersionMismatchWarning(RocmSdkWarning):
    """The SDK has another version than the caller asked for."""


def warn(message: str, category: type[RocmSdkWarning]) -> None:
    """Issues a warning that points at the line, outside this package, whose call led to it.

    The command shows warnings itself: a module that the call passes through may have a function `show_warning`.
    """
    import sys

    frame = sys._getframe()
    while _is_ours(frame) and frame.f_back is not None:
        if (show := frame.f_globals.get("show_warning")) is not None:
            show(message)
            return
        frame = frame.f_back
    import warnings

    place = frame.f_globals
    registry = place.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        category(message), category, frame.f_code.co_filename, frame.f_lineno, place.get("__name__"), registry
    )


def _is_ours(frame: "FrameType") -> bool:
    name = str(frame.f_globals.get("__name__"))
    return name == __package__ or name.startswith(f"{__package__}.")
