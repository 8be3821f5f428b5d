"""Reads what installers wrote into site-packages: distributions, their metadata and RECORD, and import hooks.

Everything is read from the directory itself. importlib.metadata caches directories by their modification time, and
before Python 3.13 nothing makes it forget.

This module imports next to nothing: commands that scripts call often pass through here.
"""

import os

_PREFIXES = ("rocm_sdk_", "rocm_profiler")


def sdk_metadata(site: str) -> list[str]:
    """Names of the `.dist-info` directories of the SDK's packages, sorted."""
    return sorted(
        name
        for name in os.listdir(site)
        if name.endswith(".dist-info") and name.lower().replace("-", "_").startswith(_PREFIXES)
    )
