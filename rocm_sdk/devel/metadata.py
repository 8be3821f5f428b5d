"""The distribution that brought the archive."""

from __future__ import annotations

import os

from rocm_sdk.errors import SystemManagedError
from rocm_sdk.installed.distributions import Distribution, sdk_distributions

from .layout import DISTRIBUTION


def devel_distribution(site: str) -> Distribution:
    """The distribution that brought the archive. SystemManagedError where it has no RECORD to be kept."""
    for distribution in sdk_distributions(site):
        if distribution.name == DISTRIBUTION and distribution.has_metadata and os.path.exists(distribution.record):
            return distribution
    raise SystemManagedError(
        f"{DISTRIBUTION} in {site} has no RECORD: it was not installed by pip or uv, so they could not remove the tree",
        f"install it into a virtual environment: python -m venv ENV && ENV/bin/pip install {DISTRIBUTION}",
        site,
    )
