"""Errors for damaged content, whose readers raise many kinds of errors, none of which may end in a traceback."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rocm_sdk import BadArchiveError, RocmSdkError
from rocm_sdk.fit.code.zip_file import DAMAGE
from rocm_sdk_build.base.errors import PackagingError

_KINDS = (*DAMAGE, tarfile.TarError, AttributeError, SyntaxError, TypeError, MemoryError)


# docs/limits.md has the reasons.
SMALL_LIMIT = 1 << 24  # bytes
NESTING_LIMIT = 64  # objects and lists in each other, as in csrc/sdk/literal.c


def read_small(stream: IO[bytes] | gzip.GzipFile) -> bytes:
    """Return all bytes of a member that is metadata.

    Raise ValueError if the member has more bytes than metadata have (SMALL_LIMIT).
    """
    data = stream.read(SMALL_LIMIT + 1)
    if len(data) > SMALL_LIMIT:
        raise ValueError(f"it has more than {SMALL_LIMIT} bytes")
    return data


@contextmanager
def refusing_damage(fail: Callable[[str], Exception]) -> Iterator[None]:
    """Yield to a block that reads foreign content, and turn its errors about the content into one kind of error.

    `fail` makes the error to raise from the text that says what is wrong with the content. Errors of the system, such
    as a full disk, are not about the content, and pass.
    """
    try:
        yield
    except BadArchiveError as error:
        raise fail(error.detail) from error
    except (RocmSdkError, PackagingError):
        raise
    except OSError as error:
        if error.errno is not None:
            raise
        raise fail(str(error)) from error
    except _KINDS as error:
        raise fail(str(error) or type(error).__name__) from error


def package_damage(path: Path, member: str = "") -> Callable[[str], PackagingError]:
    """Return the function that makes the error for a package that is damaged, or for a damaged member of a package.

    The function takes the text that says what is wrong.
    """
    shown = f"{path}: {member}" if member else str(path)
    return lambda what: PackagingError(f"{shown}: is damaged: {what}", "get the package again from where it was made")


def unreadable(path: Path) -> Callable[[str], PackagingError]:
    """Return the function that makes the error for a file of the input that cannot be read.

    The function takes the text that says what is wrong.
    """
    return lambda what: PackagingError(f"{path}: cannot be read: {what}")


def read_document(path: Path) -> object:
    """Return the JSON value of a small file.

    Raise PackagingError if the file has no JSON, is too large, or nests too deeply. Raise OSError if the file cannot be
    opened.
    """
    with path.open("rb") as file, refusing_damage(unreadable(path)):
        document: object = json.loads(read_small(file))
        _refuse_nested(document)
        return document


def _refuse_nested(document: object) -> None:
    """Raise ValueError for a JSON value that nests deeper than any loader reads (NESTING_LIMIT).

    The depth that Python itself reads depends on the version of Python.
    """
    inner = [document]
    for _ in range(NESTING_LIMIT):
        inner = [each for value in inner for each in _values_of(value)]
    if any(isinstance(each, (dict, list)) for each in inner):
        raise ValueError(f"more than {NESTING_LIMIT} values are in each other")


def _values_of(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
