"""The date that files in packages have: the same input gives the same bytes."""

from __future__ import annotations

import os

from rocm_sdk_build.errors import PackagingError

_FIRST = 315532800  # 1980-01-01, the first day that a zip file knows
_LAST = 4354819198  # 2107-12-31
_VARIABLE = "SOURCE_DATE_EPOCH"


def source_date() -> int:
    """SOURCE_DATE_EPOCH, in seconds since 1970, or 1980-01-01. PackagingError if it is not such a number."""
    text = os.environ.get(_VARIABLE, "")
    if text and not (text.isascii() and text.isdigit() and int(text) <= _LAST):
        raise PackagingError(f"{_VARIABLE}={text!r} is not a time in seconds since 1970", f"{_VARIABLE}=$(date +%s)")
    return max(int(text or 0), _FIRST)
