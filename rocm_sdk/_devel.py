"""The established face of the development tree: where it is, and keeping device links in step."""

from __future__ import annotations

import os
from pathlib import Path

from .devel.root import development_root
from .devel.stamp import is_current


def get_devel_root() -> Path:
    """The directory of the development tree, expanded at first use.

    Raises PackageNotInstalledError (ModuleNotFoundError) where rocm-sdk-devel is not installed, SystemManagedError
    (ImportError) where pip could not remove the tree, DevelopmentTreeError (OSError) where it cannot be made. Says
    nothing, unless ROCM_SDK_VERBOSE=1.
    """
    return Path(development_root(quiet=os.environ.get("ROCM_SDK_VERBOSE") != "1"))


def _reconcile_device_links(site: str | Path, devel_dir: str | Path, expected_version: str) -> int:
    """Links the files of device packages in `site` into the tree `devel_dir`; returns how many were linked anew.

    expected_version: of the SDK; packages of other versions are left out, with a warning, post-releases aside.
    """
    site, tree = os.path.abspath(site), os.path.abspath(devel_dir)
    if is_current(site, tree, expected_version):
        return 0
    import warnings

    from .devel.prepare import DEFAULT_TIMEOUT
    from .devel.progress import Reporter
    from .devel.upkeep import reconcile
    from .errors import RocmSdkWarning

    say = Reporter(quiet=os.environ.get("ROCM_SDK_VERBOSE") != "1").say
    upkeep = reconcile(site, tree, expected_version, DEFAULT_TIMEOUT, say)
    for notice in upkeep.notices:
        warnings.warn(notice, RocmSdkWarning, stacklevel=2)
    return upkeep.device_links
