"""Which metadata directories of the SDK's packages a site-packages directory has.

Imports next to nothing: commands that scripts call often pass through here.
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
