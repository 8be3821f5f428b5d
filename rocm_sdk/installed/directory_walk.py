"""The one way to walk through a directory, for both distributions: without recursion, up to a limit of depth.

Before Python 3.12, os.walk calls itself for each level. pathlib and shutil do so for everything below a directory. The
directories that the walker accepts are safe for them, too.
"""

from __future__ import annotations

import errno
import os

from rocm_sdk.errors import LibraryAccessError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEPTH_LIMIT = 128  # nested directories; csrc/device_code/code_files.c has the same limit


def walk(
    directory: str | os.PathLike[str], on_error: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield a directory and each one below it, with the names of directories and of other files in it, like os.walk.

    Directories that the caller removes from the list are not entered, nor are links. on_error gets the errors of
    directories that cannot be listed, which are left out. Directories that are nested too deep are a
    LibraryAccessError, which is raised without on_error.
    """
    top = os.fspath(directory)
    pending = [(top, 0)]
    while pending:
        parent, depth = pending.pop()
        try:
            directories, files = _names_in(top, parent, depth)
        except LibraryAccessError as error:
            if on_error is None:
                raise
            on_error(error)
            continue
        except OSError as error:
            if on_error is not None:
                on_error(error)
            continue
        yield parent, directories, files
        below = (os.path.join(parent, name) for name in reversed(directories))
        pending += [(path, depth + 1) for path in below if not os.path.islink(path)]


def refuse_deep(directory: str | os.PathLike[str]) -> None:
    """Raise LibraryAccessError if directories in this one are nested too deep.

    Functions that call themselves for each level are safe below the limit.
    """
    for _ in walk(directory):
        pass


def too_deep(path: str) -> LibraryAccessError:
    """Return the error for a directory or an archive in which directories are nested too deep."""
    detail = f"directories lie in each other more than {DEPTH_LIMIT} deep"
    fix = "an installed ROCm has 20: remove the others"
    return LibraryAccessError(f"{path}: cannot read: {detail}", fix, path, detail=detail)


def _names_in(top: str, parent: str, depth: int) -> tuple[list[str], list[str]]:
    if depth > DEPTH_LIMIT:
        raise too_deep(top)
    directories: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                (directories if _is_directory(entry) else files).append(entry.name)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise too_deep(top) from error
        raise
    return directories, files


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False
