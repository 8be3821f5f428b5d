"""The loader's wheel beside packages that a selector installs."""

from __future__ import annotations

import logging
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from rocm_sdk import loader_version
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.new_file import move_files
from rocm_sdk_build.files.scratch import scratch_directory
from rocm_sdk_build.output.own_loader import own_loader

from .wish import Wish

_log = logging.getLogger(__name__)


def loader_for(wish: Wish, dist: Path, scratch: Path) -> Path | None:
    """Return the wheel that is to lie in `dist`, or None if no wheel is to be added.

    No wheel is added if none is wanted, if one is there already, or if there is none, which the log tells. The wheel
    may be written to `scratch`.
    """
    if wish.loader is not None or not wish.brings_loader or any(map(_serves, dist.glob("rocm_sdk_loader-*.whl"))):
        return wish.loader
    try:
        return own_loader(scratch / "loader")
    except PackagingError as error:
        told = "rocm requires rocm-sdk-loader, whose wheel is not put beside the packages"
        _log.warning("%s: %s; %s", told, error, error.fix)
        return None


def bring_loader(wish: Wish, dist: Path) -> list[Path]:
    """Bring the loader's wheel to packages that are in `dist` already.

    Return the wheel that appears there, or [].
    """
    with scratch_directory(dist) as scratch:
        loader = loader_for(wish, dist, scratch)
        if loader is None:
            return []
        fresh = scratch / loader.name
        fresh.write_bytes(loader.read_bytes())
        move_files({fresh: dist / loader.name})
        return [dist / loader.name]


def _serves(wheel: Path) -> bool:
    """Return whether the selector takes this loader: its version is the running loader's or a later one."""
    try:
        return parse_wheel_filename(wheel.name)[1] >= Version(loader_version)
    except InvalidWheelFilename:
        return False
