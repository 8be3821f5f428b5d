"""What is installed in a site-packages directory, read from its `.dist-info` directories.

Not by importlib.metadata: it remembers directories by their modification time, and before Python 3.13 nothing makes it
forget.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from rocm_sdk.errors import SystemManagedError

from .layout import DISTRIBUTION
from .stamp import sdk_metadata

_POST_RELEASE = re.compile(r"\.post\d+")


class Distribution(NamedTuple):
    """An installed distribution: normalised name, version, path of its RECORD (which may be absent)."""

    name: str
    version: str
    record: str


def sdk_distributions(site: str) -> list[Distribution]:
    """The distributions of the SDK in `site`."""
    found = (_read(f"{site}/{name}") for name in sdk_metadata(site))
    return [distribution for distribution in found if distribution is not None]


def devel_distribution(site: str) -> Distribution:
    """The distribution that brought the archive. SystemManagedError where it has no RECORD to be kept."""
    for distribution in sdk_distributions(site):
        if distribution.name == DISTRIBUTION and os.path.exists(distribution.record):
            return distribution
    raise SystemManagedError(
        f"{DISTRIBUTION} in {site} has no RECORD: it was not installed by pip or uv, so they could not remove the tree",
        f"install it into a virtual environment: python -m venv ENV && ENV/bin/pip install {DISTRIBUTION}",
        site,
    )


def same_release(one: str, other: str) -> bool:
    """Whether two versions are equal, post-releases aside."""
    return _POST_RELEASE.sub("", one, count=1) == _POST_RELEASE.sub("", other, count=1)


def _read(directory: str) -> Distribution | None:
    """None: pip is about to install or remove it."""
    fields: dict[str, str] = {}
    try:
        with open(f"{directory}/METADATA", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, colon, value = line.partition(":")
                if not colon:  # the end of the headers
                    break
                fields.setdefault(name.lower(), value.strip())
    except FileNotFoundError:
        return None
    name = re.sub(r"[-_.]+", "-", fields.get("name", "")).lower()
    return Distribution(name, fields.get("version", ""), f"{directory}/RECORD")
