"""The exceptions of this package: what is wrong with which file or program, and what the user can do about it."""

import errno

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of an OSError


class PackagingError(Exception):
    """The error of a failure to make packages.

    `str()` says what happened to which file; `fix` says what to do, or is empty.
    """

    status = 1  # exit status of the command

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class WrongUsageError(PackagingError):
    """The error for words of the command line that stand for nothing, do not go together, or lack."""

    status = 2


class AbsentInputError(WrongUsageError):
    """The error for a file or directory that the command line names and that is not there."""


def raise_error(error: OSError) -> None:
    """Raise the error of a walk through a directory, which would leave out a directory that it cannot list."""
    raise error
