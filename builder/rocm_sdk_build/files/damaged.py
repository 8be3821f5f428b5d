"""Errors for content that is damaged: what reads it raises many kinds, and none of them may end in a traceback."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rocm_sdk import BadArchiveError, RocmSdkError
from rocm_sdk.base.zip_file import DAMAGE
from rocm_sdk_build.errors import PackagingError

_KINDS = (*DAMAGE, tarfile.TarError, AttributeError, SyntaxError, TypeError, MemoryError)


# docs/limits.md has the reasons.
SMALL_LIMIT = 1 << 24  # bytes
NESTING_LIMIT = 64  # objects and lists in each other, as in csrc/sdk/literal.c


def read_small(stream: IO[bytes] | gzip.GzipFile) -> bytes:
    """All bytes of a member that is metadata. ValueError if there are more than any such has."""
    data = stream.read(SMALL_LIMIT + 1)
    if len(data) > SMALL_LIMIT:
        raise ValueError(f"it has more than {SMALL_LIMIT} bytes")
    return data


@contextmanager
def refusing_damage(fail: Callable[[str], Exception]) -> Iterator[None]:
    """The block reads foreign content. fail: makes the error to raise of what is wrong with it.

    Errors of the system, as that no space is left, are not of the content.
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
    """Makes the error for a package that is damaged, or a member of one."""
    shown = f"{path}: {member}" if member else str(path)
    return lambda what: PackagingError(f"{shown}: is damaged: {what}", "get the package again from where it was made")


def unreadable(path: Path) -> Callable[[str], PackagingError]:
    """Makes the error for a file of the input that is not what it must be."""
    return lambda what: PackagingError(f"{path}: cannot be read: {what}")


def read_document(path: Path) -> object:
    """The JSON of a small file. PackagingError for one that has none; raises OSError."""
    with path.open("rb") as file, refusing_damage(unreadable(path)):
        document: object = json.loads(read_small(file))
        _refuse_nested(document)
        return document


def _refuse_nested(document: object) -> None:
    """ValueError for values in each other that no loader reads. How many Python itself reads depends on its version."""
    inner = [document]
    for _ in range(NESTING_LIMIT):
        inner = [each for value in inner for each in _values_of(value)]
    if any(isinstance(each, (dict, list)) for each in inner):
        raise ValueError(f"more than {NESTING_LIMIT} values are in each other")


def _values_of(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
