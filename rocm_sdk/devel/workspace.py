"""The values that the holder of the lock works with, and the distribution that brought the archive."""

from __future__ import annotations

import os
from typing import NamedTuple

from rocm_sdk._native import sdk_facts
from rocm_sdk.base.file_lock import Purpose
from rocm_sdk.errors import DevelopmentTreeError, DevelopmentTreeLockedError, RocmSdkError, SystemManagedError
from rocm_sdk.installed.distributions import Distribution, sdk_distributions
from rocm_sdk.problems import fix_of, problem

from .layout import DISTRIBUTION

OF_TREE = Purpose(
    "works on the development tree",
    DevelopmentTreeError,
    DevelopmentTreeLockedError,
    patience="wait for it, or set a longer --timeout",
)
OF_STORE = OF_TREE._replace(has_readers=True)


class Workspace(NamedTuple):
    """Where a tree is changed.

    site: a site-packages directory. staging: a staging directory in it. version: the version of the SDK.
    """

    site: str
    staging: str
    version: str


def devel_distribution(site: str) -> Distribution:
    """Return the distribution that brought the archive.

    Raises SystemManagedError if the distribution has no RECORD to keep up to date.
    """
    for distribution in sdk_distributions(site):
        if distribution.name == DISTRIBUTION and distribution.has_metadata and os.path.exists(distribution.record):
            return distribution
    try:
        version = sdk_facts()["version"]
    except RocmSdkError:  # core is not there, or damaged
        version = None
    requirement = f"rocm[libraries,devel]=={version}" if version else None
    raise SystemManagedError(
        f"{DISTRIBUTION} in {site} has no RECORD: it was not installed by pip or uv, so they could not remove the tree",
        fix_of(problem("E-DEVEL-011", site, site, lambda *_: {}, requirement=requirement)),
        site,
    )
