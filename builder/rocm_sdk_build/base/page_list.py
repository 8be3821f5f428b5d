"""A page list (docs/cold-starts.md) that becomes part of a package or an image: the pages that a load touches.

A process that ran the code of libraries wrote the list, so all of the list is in doubt until it is checked.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.installed.page_list import PAGE_LIST
from rocm_sdk.installed.readers import paged_files
from rocm_sdk_build.base.errors import PackagingError

FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_CORE = "_rocm_sdk_core"
_FIX = "leave out --record-pages"


class PageList(NamedTuple):
    """A list that is one of the files below a directory.

    `place` is the path of the list there, `libraries` the number of files that the list names, and `size` the number of
    bytes that the list names.
    """

    place: str
    text: bytes
    libraries: int
    size: int


def checked(text: bytes, site: Path) -> PageList:
    """Return a list of the SDK in a directory like site-packages, which has one core package.

    Raise PackagingError if the text is no page list, or names a file that differs from the list or is missing.
    """
    try:
        files = paged_files(text)
    except RocmSdkError as error:
        raise PackagingError(f"the record of a load is not a page list: {error.message}", _FIX) from error
    for directory, name, size, build_id, place, _ in files:
        path = f"{directory}/{name}"
        if not _is_there(site, path, size, build_id, place):
            raise PackagingError(f"the page list names {path!r}, which is another file or none", _FIX)
    core = next(site.glob(f"{_CORE}*")).name
    size = sum(part for *_, parts in files for _, part in parts)
    return PageList(f"{core}/{PAGE_LIST}", text, len(files), size)


def _is_there(site: Path, path: str, size: int, build_id: bytes, place: int) -> bool:
    real = os.path.realpath(site / path)
    if not real.startswith(f"{os.path.realpath(site)}/"):
        return False
    try:
        descriptor = os.open(real, FLAGS)
    except OSError:
        return False
    try:
        facts = os.fstat(descriptor)
        is_same = stat.S_ISREG(facts.st_mode) and facts.st_size == size
        return is_same and os.pread(descriptor, len(build_id), place) == build_id
    finally:
        os.close(descriptor)
