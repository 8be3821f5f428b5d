"""Directories that the command line names.

Directories of input must be there, and directories of output are made if need be.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rocm_sdk_build.base.errors import AbsentInputError, PackagingError

_IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR, errno.ELOOP)


def require_directory(path: Path, fix: str) -> None:
    """Raise AbsentInputError if there is no such directory, PackagingError if something else has its name.

    `fix` is the fix that the error names.
    """
    if path.is_dir():
        return
    if path.exists():
        raise PackagingError(f"{path}: is not a directory", fix)
    raise AbsentInputError(f"{path}: there is no such directory", fix)


@contextmanager
def output_directory(path: Path) -> Iterator[None]:
    """Yield to a block that writes to a directory, which is made if need be.

    Directories that were made for the block are removed again if the block leaves them empty. Raise PackagingError if
    something else has the name of the directory, or of a directory above.
    """
    made = [each for each in (path, *path.parents) if not os.path.lexists(each)]
    try:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno not in _IN_THE_WAY:
                raise
            wrong = next(each for each in (path, *path.parents) if os.path.lexists(each))
            raise PackagingError(
                f"{wrong}: is in the way: it is not a directory", "remove it, or name another place"
            ) from error
        yield
    finally:
        for each in made:
            with suppress(OSError):  # the directory is not empty, or was not made
                each.rmdir()
