"""The date of files in packages, which is fixed, since the same input gives the same bytes."""

from __future__ import annotations

import os
import re

from rocm_sdk_build.base.errors import PackagingError

_FIRST = 315532800  # 1980-01-01, the first day that a zip file knows
_LAST = 4354819198  # 2107-12-31
_VARIABLE = "SOURCE_DATE_EPOCH"


def given_date() -> int | None:
    """Return SOURCE_DATE_EPOCH in seconds since 1970, or None if the variable is not set.

    Raise PackagingError if the value is no such number.
    """
    text = os.environ.get(_VARIABLE, "")
    if text and not (re.fullmatch("[0-9]{1,10}", text) and int(text) <= _LAST):
        raise PackagingError(f"{_VARIABLE}={text!r} is not a time in seconds since 1970", f"{_VARIABLE}=$(date +%s)")
    return int(text) if text else None


def source_date() -> int:
    """Return the given date, but at least 1980-01-01, in seconds since 1970."""
    return max(given_date() or 0, _FIRST)
