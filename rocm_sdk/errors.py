"""The exceptions and warnings of rocm_sdk.

Each exception is a RocmSdkError and also the built-in exception that callers of the established API catch. The
extension creates them from the C library's errors. Exceptions may hold text of any file. Their texts (`str`, a
traceback, a printed warning) are harmless; their attributes are exact.
"""

from .base.value_text import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Protocol

    from ._native import Code

    class Described(Protocol):
        """The part of a rocm_sdk.Problem, which is in a higher layer, that this module uses."""

        @property
        def facts(self) -> dict[str, str]:
            """The values that the problem's texts name."""


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
    """The error for a shortname that no library has."""

    code = "E-API-004"


class PackageNotInstalledError(RocmSdkError, ModuleNotFoundError):
    """The error for a library whose package of the SDK is not installed."""

    code = "E-PKG-014"


class LibraryNotFoundError(RocmSdkError, FileNotFoundError, IndexError):
    """The error for a library that its package, which is installed, does not contain.

    The class is also an IndexError, like the next two: if find_libraries raises one, torch's compile_kernel takes the
    library that is in the process.
    """

    code = "E-API-001"


class LibraryAccessError(RocmSdkError, FileNotFoundError, IndexError):
    """The error for a file or directory of the SDK that cannot be read.

    The class is a FileNotFoundError because triton catches only that and ImportError, and so each error of
    find_libraries is one of the two.
    """

    code = "E-FILE-007"


class BadLibraryError(RocmSdkError, FileNotFoundError, IndexError):
    """The error for a file that is damaged, is not a shared library, or is one for another machine."""

    code = "E-LIB-006"


class LibraryLoadError(RocmSdkError, OSError):
    """The error for a library that the dynamic linker refuses."""

    code = "E-LIB-001"


class BadMetadataError(RocmSdkError, ImportError, ValueError):
    """The error for a damaged `_dist_info.py` or `dist_info.json` of the SDK."""

    code = "E-PKG-013"


class VersionMismatchError(RocmSdkError, RuntimeError):
    """The error for an SDK whose version is not the one that the caller asked for."""

    code = "E-PKG-015"


class EnvironmentOverrideError(RocmSdkError, ImportError, RuntimeError):
    """The error for an environment variable, or the argument that replaces it, that asks for something impossible."""

    code = "E-ENV-007"


class TopologyError(RocmSdkError, FileNotFoundError):
    """The error for the kernel's files about the GPUs if they are damaged, or change while they are read."""

    code = "E-GPU-004"


class UnknownTargetError(RocmSdkError, ValueError):
    """The error for a name that no gfx target or target family has, or a feature that the target does not have."""

    code = "E-GPU-005"


class EmptySelectionError(RocmSdkError, ValueError):
    """The error for a selection without a gfx target to build for.

    It is raised instead of returning an empty list, which build systems would replace by a default.
    """

    code = "E-GPU-006"


class UnsupportedTargetError(RocmSdkError, ValueError):
    """The error for a requested target for which the installed libraries have no device code."""

    code = "E-GPU-002"


class RewriteError(RocmSdkError, ValueError):
    """The error for a file of GPU code that cannot be rewritten; nothing was changed."""

    code = "E-CODE-010"


class DevelopmentTreeError(RocmSdkError, OSError):
    """The error for a development tree that cannot be made or changed.

    The causes are too little disk space, no permission, or a concurrent change.
    """

    code = "E-DEVEL-008"


class BadArchiveError(RocmSdkError, ValueError):
    """The error for an archive of the development tree that is damaged, or has a member that is not allowed."""

    code = "E-DEVEL-009"


class DevelopmentTreeLockedError(RocmSdkError, TimeoutError):
    """The error for a development tree that another process works on for longer than the time limit."""

    code = "E-DEVEL-010"


class SystemManagedError(RocmSdkError, ImportError):
    """The error for a development package without a RECORD: pip could not remove the tree."""

    code = "E-DEVEL-011"


class RocmSdkWarning(UserWarning):
    """The base class of the warnings of this package."""

    def __init__(self, message: str) -> None:
        super().__init__(harmless(message))


class RocmLibraryConflictWarning(RocmSdkWarning):
    """The warning that a library of the SDK is already loaded from outside the SDK, or in another version."""


class VersionMismatchWarning(RocmSdkWarning):
    """The warning that the SDK's version is not the one that the caller asked for."""


def warn(message: str, category: type[RocmSdkWarning]) -> None:
    """Issue a warning that points at the line, outside this package, whose call led to it.

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


def warn_of_misspelt(names: "Iterable[str]", function: "Callable[..., object]") -> None:
    """Warn of each name that is one edit away from a keyword argument of the function."""
    for name in names:
        for each in function.__kwdefaults__ or ():
            if _is_one_edit_away(name, each):
                warn(f"{function.__name__}() ignores the unknown argument {name!r}: is {each!r} meant?", RocmSdkWarning)


def _is_one_edit_away(one: str, other: str) -> bool:
    """Return whether the texts differ by one letter, or by two swapped neighbours.

    The letter may be added, removed or replaced.
    """
    length = len(_common_beginning(one, other))
    one, other = one[length:], other[length:]
    length = len(_common_beginning(one[::-1], other[::-1]))
    one, other = one[: len(one) - length], other[: len(other) - length]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])


def _common_beginning(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]
