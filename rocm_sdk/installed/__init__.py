"""The files that installers wrote into site-packages: distributions, their metadata and RECORD, and import hooks.

Everything is read from the directory itself. importlib.metadata caches directories by their modification time, and
before Python 3.13 nothing makes it forget.

This module imports next to nothing, since scripts often call commands that use it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIXES = ("rocm_sdk_", "rocm_profiler")
_TOOLS = ("loader_", "build_", "variant_provider_")  # the rest of the names of distributions that are not in an SDK


def chosen_site() -> str | None:
    """Return the directory of ROCM_SDK_ROOT; None if the variable is not set.

    Raise RocmSdkError if it cannot be used.
    """
    from rocm_sdk._native import sdk_facts, sdk_root  # here: adoption works without the extension

    return None if sdk_root() is None else sdk_facts()["root"]


def sdk_sites() -> "Iterable[str]":
    """Return the directories in which to look for the SDK's packages: only ROCM_SDK_ROOT's, else those of sys.path.

    Raises RocmSdkError like chosen_site.
    """
    root = chosen_site()
    return map(os.path.abspath, sys.path) if root is None else (root,)


def sdk_metadata(site: str) -> list[str]:
    """Return the names of the `.dist-info` directories of the SDK's packages, sorted."""
    found = ((name, name.lower().replace("-", "_")) for name in os.listdir(site) if name.endswith(".dist-info"))
    own = _PREFIXES[0]
    return sorted(
        name for name, plain in found if plain.startswith(_PREFIXES) and not plain.removeprefix(own).startswith(_TOOLS)
    )
