"""The environment that becomes smaller in place: its site-packages, its commands, and the reasons against a change."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.moving import exchange, refusal_to_move
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkPackage
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.scratch import scratch_directory

_CHOICE = "run rocm-sdk-build of the environment that has the SDK, or write a closure beside it: --output PLACE"
_SAME_RUN = (
    "pruning a lower layer shrinks nothing: prune in the same RUN as the installation,"
    " which ends with && rocm-sdk-build closure ... --in-place"
)
_NOT_EMPTY = (errno.ENOTEMPTY, errno.EEXIST)


class Environment(NamedTuple):
    """The directories of this Python's environment, as real paths."""

    sites: tuple[str, ...]  # directories for packages; mostly one
    scripts: str  # directory of commands


def find_environment() -> Environment:
    """Return the environment of this Python.

    Raise PackagingError if the system's package manager owns it, or ROCM_SDK_ROOT names another SDK.
    """
    if os.environ.get("ROCM_SDK_ROOT"):
        raise PackagingError("ROCM_SDK_ROOT names the SDK, which is of no environment", "unset ROCM_SDK_ROOT")
    mark = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix == sys.base_prefix and os.path.exists(mark):
        raise PackagingError(
            f"{sys.prefix} belongs to the system's package manager ({mark})",
            "install the SDK into an environment: python3 -m venv rocm",
        )
    sites = dict.fromkeys(os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
    return Environment(tuple(sites), os.path.realpath(sysconfig.get_path("scripts")))


def site_to_prune(environment: Environment, sdk: InstalledSdk) -> str:
    """Return the one directory that holds the SDK.

    Raise PackagingError if there are several, or the directory may not be changed.
    """
    if len(sdk.sites) != 1:
        raise PackagingError(f"the SDK comes from several directories: {', '.join(sdk.sites)}", _CHOICE)
    site = os.path.realpath(sdk.sites[0])
    if site not in environment.sites:
        raise PackagingError(f"the SDK is in {sdk.sites[0]}, which is not of the environment {sys.prefix}", _CHOICE)
    for package in sdk.packages:
        if _is_editable(package):
            what = f"{package.name} is installed in editable mode: its files are sources"
            raise PackagingError(what, "install it as a wheel")
    require_writable(site)
    return site


def require_writable(site: str) -> None:
    """Raise PackagingError for a directory that this user may not change."""
    if os.statvfs(site).f_flag & os.ST_RDONLY:
        raise PackagingError(f"{site} is on a read-only file system", "mount it writable, or use --output PLACE")
    if not os.access(site, os.W_OK | os.X_OK):
        raise PackagingError(f"{site} may not be changed by this user", "run the command as the owner")


def place_for_scratch(site: str, packages: Iterable[str]) -> tuple[Path, bool]:
    """Return the directory for the new files, and whether site-packages can be exchanged there as a whole.

    `packages` are names of directories in site-packages. Raise PackagingError if one of them lies in a lower layer of a
    container image.
    """
    with scratch_directory(Path(site)) as scratch:
        for name in packages:
            _require_own_layer(os.path.join(site, name), str(scratch / "not-empty"))
    parent = os.path.dirname(site)
    if os.access(parent, os.W_OK | os.X_OK):
        with scratch_directory(Path(parent)) as scratch:
            if _can_exchange(site, scratch):
                return Path(parent), True
    return Path(site), False


@contextmanager
def locked(site: str) -> Iterator[None]:
    """Let one process at a time change a directory.

    Raise PackagingError if another process changes it.
    """
    descriptor = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _has_lock(descriptor, site):
            raise PackagingError(f"{site}: another rocm-sdk-build closure changes it", "wait for it")
        yield
    finally:
        os.close(descriptor)


def _has_lock(descriptor: int, site: str) -> bool:
    """Take the lock; return False if another process has it or has exchanged the directory since it was opened."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.path.samestat(os.fstat(descriptor), os.stat(site))


def _is_editable(package: SdkPackage) -> bool:
    try:
        with open(os.path.join(package.distribution.directory, "direct_url.json"), "rb") as file:
            document = json.loads(file.read(1 << 20))
        return bool(document["dir_info"]["editable"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _require_own_layer(package: str, obstacle: str) -> None:
    if not stat.S_ISDIR(os.lstat(package).st_mode) or refusal_to_move(package, obstacle) != errno.EXDEV:
        return
    if type_of_file_system(Path(package)) == "overlay":
        raise PackagingError(f"{package} is in a lower layer of this container", _SAME_RUN)
    raise PackagingError(f"{package} is a file system of its own", "write a closure beside it: --output PLACE")


def _can_exchange(site: str, scratch: Path) -> bool:
    """Return whether the file system exchanges directories, and moves this one."""
    one, other = scratch / "one", scratch / "other"
    one.mkdir()
    other.mkdir()
    try:
        exchange(str(one), str(other))
    except OSError:
        return False
    return refusal_to_move(site, str(scratch / "not-empty")) in _NOT_EMPTY


def type_of_file_system(path: Path) -> str:
    """Return the type by the name that mount uses, such as "ext4" or "overlay"; "" if /proc does not say."""
    directory = path if path.is_dir() else path.parent
    return _types().get(directory.stat().st_dev, "")


@cache
def _types() -> dict[int, str]:
    """Return the type of the file system of each device; {} if /proc does not say.

    overlayfs may give files, and not directories, the devices of its layers.
    """
    found: dict[int, str] = {}
    try:
        with Path("/proc/self/mountinfo").open(encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                own, _, other = line.partition(" - ")
                major, _, minor = own.split()[2].partition(":")
                found[os.makedev(int(major), int(minor))] = other.split()[0]
    except (OSError, ValueError, IndexError):
        return {}
    return found
