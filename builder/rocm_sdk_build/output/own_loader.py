"""The wheel of the running loader: the selector requires rocm-sdk-loader, and no index need have it.

The loader was installed from a wheel, which is made again from its files, without a network. Or the loader runs in its
source tree, where `make wheel` has made a wheel.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

import rocm_sdk
from rocm_sdk import loader_version
from rocm_sdk.base.own_wheels import install_command
from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.distributions import Distribution, sdk_distributions
from rocm_sdk.installed.record import has_digest
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.installed_wheel import OF_INSTALLER, write_again
from rocm_sdk_build.base.new_file import move_files
from rocm_sdk_build.base.scratch import scratch_directory

from .rocm_selector.backend import LOADER

_log = logging.getLogger(__name__)
_GIVE_ONE = "name one: --loader WHEEL (--no-loader: the packages need none)"
_PACKAGE = "rocm_sdk/__init__.py"  # an editable installation does not list it
# The sources of the wheel in the source tree. After an editable installation, compiled files are there too.
_SOURCES = ("pyproject.toml", "setup.py", "csrc", "rocm_sdk")
_COMPILED = (".pyc", ".so", "load_check")


def own_loader(directory: Path, package: Path | None = None) -> Path:
    """Return the wheel of the loader, which may be written into the directory, made if need be.

    `package` is a directory `rocm_sdk`, by default the running one. Raise PackagingError, which says why there is no
    such wheel.
    """
    parent = package.parent if package is not None else Path(PACKAGE_PARENT)
    installed = next((each for each in sdk_distributions(str(parent)) if each.name == LOADER), None)
    if installed is not None and any(file.path == _PACKAGE for file in installed.files):
        directory.mkdir(parents=True, exist_ok=True)
        return write_again(Path(installed.directory), directory, list(_members(parent, installed)))
    tree = Path(os.path.realpath(package or Path(rocm_sdk.__file__).parent)).parent
    if (tree / "csrc/include/rocm_sdk/version.h").is_file():
        return _built_in(tree)
    what = f"{installed.record}: does not list the files of rocm_sdk" if installed else f"{parent}: has no {LOADER}"
    raise PackagingError(f"{what}, so its wheel cannot be made again", _GIVE_ONE)


def loader_for(loader: Path | None, brings: bool, dist: Path, scratch: Path) -> Path | None:
    """Return the wheel that is to lie in `dist`: `loader`, or with `brings` the running loader's, or None.

    No wheel is added if none is wanted, if one is there already, or if there is none, which the log tells. The wheel
    may be written to `scratch`.
    """
    if loader is not None or not brings or any(map(_serves, dist.glob("rocm_sdk_loader-*.whl"))):
        return loader
    try:
        return own_loader(scratch / "loader")
    except PackagingError as error:
        told = "rocm requires rocm-sdk-loader, whose wheel is not put beside the packages"
        _log.warning("%s: %s; %s", told, error, error.fix)
        return None


def bring_loader(dist: Path) -> list[Path]:
    """Bring the running loader's wheel to packages that are in `dist` already.

    Return the wheel that appears there, or [].
    """
    with scratch_directory(dist) as scratch:
        loader = loader_for(None, True, dist, scratch)
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


def _members(parent: Path, installed: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the names in the wheel and the files, without files that the installer made.

    Raise PackagingError for a file that has changed since the installation.
    """
    info = Path(installed.directory).name
    made = {f"{info}/{name}" for name in OF_INSTALLER}
    for file in sorted(installed.files, key=lambda file: (file.path.startswith(f"{info}/"), file.path)):
        if file.path in made or file.path.startswith(("../", "/")) or file.path.endswith(".pyc"):
            continue
        path = parent / file.path
        if not path.is_file() or not has_digest(str(path), file.digest):
            what = "is not what was installed" if path.exists() else "is not there"
            raise PackagingError(f"{path}: {what}", install_command(LOADER, again=True))
        yield file.path, path


def _built_in(tree: Path) -> Path:
    """Return the wheel that `make wheel` has built in a source tree; tell a terminal if the sources are newer.

    Raise PackagingError unless there is exactly one wheel of this version.
    """
    built = sorted((tree / "build/wheel").glob(f"rocm_sdk_loader-{loader_version}-*.whl"))
    make = f"make -C {quoted_for_shell(str(tree))} wheel"
    if len(built) != 1:
        found = f"has {len(built)} wheels" if built else "has no wheel"
        raise PackagingError(f"{tree}/build/wheel: {found} of {LOADER} {loader_version}", make)
    if any(path.stat().st_mtime > built[0].stat().st_mtime for path in _sources_in(tree)):
        _log.info("%s: is older than its sources: %s", built[0], make)
    return built[0]


def _sources_in(tree: Path) -> Iterator[Path]:
    for name in _SOURCES:
        place = tree / name
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.is_file() and not path.name.endswith(_COMPILED):
                yield path
