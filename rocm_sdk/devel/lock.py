"""The locks that every writer of a development tree holds, and every user of a store."""

from __future__ import annotations

from rocm_sdk.base.locking import Purpose
from rocm_sdk.errors import DevelopmentTreeError, DevelopmentTreeLockedError

OF_TREE = Purpose(
    "works on the development tree",
    DevelopmentTreeError,
    DevelopmentTreeLockedError,
    patience="wait for it, or set a longer --timeout",
)
OF_STORE = OF_TREE._replace(has_readers=True)
