"""The search of a directory or an archive for files that may hold GPU code, by their first bytes, and reading each."""

from __future__ import annotations

import os
import stat

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.archive_errors import refusal
from rocm_sdk.installed.directory_walk import walk

from .candidate import HEAD_SIZE, is_candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from .candidate import Found

_ZIP_MAGICS, _ZIP_ENDINGS = (b"PK\x03\x04", b"PK\x05\x06"), (".whl", ".zip")
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")


def code_in(path: str) -> Iterator[Found]:
    """Yield the code of a file, or of each file in a directory or archive that may hold any.

    A file that cannot be read gives an error; the others are still read.
    """
    try:
        if os.path.isdir(path):
            yield from _codes_of_directory(path)
        elif (codes := _codes_of_archive(path)) is not None:
            yield from codes
        else:
            yield _native.device_code(path)
    except RocmSdkError as error:
        yield error


def _codes_of_archive(path: str) -> Iterator[Found] | None:
    """Return the codes of an archive; None if it is not an archive or cannot be read.

    Reading it as a file then reports why.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            head = file.read(_TAR_MAGIC_AT + len(_TAR_MAGIC))
    except OSError:
        return None
    if head.startswith(_ZIP_MAGICS) or path.endswith(_ZIP_ENDINGS):
        from .zip_archive import codes_of_zip  # here: its imports take longer than listing a library

        return _codes_of_open(path, codes_of_zip)
    if path.endswith(_TAR_ENDINGS) or head[_TAR_MAGIC_AT:] == _TAR_MAGIC:
        from .tar_archive import codes_of_tar

        return _codes_of_open(path, codes_of_tar)
    return None


def _codes_of_open(path: str, reader: Callable[[str, BinaryIO], Iterator[Found]]) -> Iterator[Found]:
    with open(path, "rb") as file:
        yield from reader(path, file)


def _codes_of_directory(directory: str) -> Iterator[Found]:
    """Yield the code of each file below a directory that may hold any. Links are not followed."""
    unlisted: list[OSError] = []
    for parent, names, files in walk(directory, unlisted.append):
        names.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        if not is_candidate(file.read(HEAD_SIZE)):
                            continue
                    yield _native.device_code(path)
            except OSError as error:
                yield error if isinstance(error, RocmSdkError) else refusal(path, error.strerror or str(error))
            except RocmSdkError as error:
                yield error
    for each in unlisted:
        yield each if isinstance(each, RocmSdkError) else refusal(str(each.filename), each.strerror or str(each))
