"""The exceptions of this package: what is wrong with which file or program, and what the user can do about it."""


class PackagingError(Exception):
    """Making packages failed. `str()` says what happened to which file; `fix` what to do, or is empty."""

    status = 1  # of the command

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class WrongUsageError(PackagingError):
    """Words of the command line stand for nothing, do not go together, or lack."""

    status = 2


class AbsentInputError(WrongUsageError):
    """A file or directory that the command line names is not there."""


def raise_error(error: OSError) -> None:
    """For a walk through a directory, which would leave out what it cannot list."""
    raise error
