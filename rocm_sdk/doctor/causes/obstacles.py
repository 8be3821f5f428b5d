"""The causes that no experiment removes: hard limits, a full disk, and devices that the system lacks."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.base.users import owner_or_root, user_name
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.doctor.surroundings import hard_limits
from rocm_sdk.fit.comgr_places import temporary_directory

# The words of programs at a limit.
_AT_LIMIT = {
    "RLIMIT_AS": r"annot allocate memory|MemoryError|bad_alloc|failed to map segment|[Oo]ut of memory",
    "RLIMIT_DATA": r"annot allocate memory|MemoryError|bad_alloc|failed to map segment|[Oo]ut of memory",
    "RLIMIT_FSIZE": r"File too large|SIGXFSZ|file size limit",
    "RLIMIT_NOFILE": r"Too many open files",
    "RLIMIT_NPROC": r"Resource temporarily unavailable",
}
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # where others write, too
# The errors of a directory that is missing, or that takes no files: no limit of the process and no other program.
OF_DIRECTORIES = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC})
_TEMPORARY_SIZE = 1 << 20  # bytes: less than comgr writes


class _Device(NamedTuple):
    """A device or file system that each system has."""

    path: str
    opened: str  # a file that exists if it is usable
    repair: str  # the command that makes it


_DEVICES = (
    _Device("/dev/null", "/dev/null", "mknod -m 666 /dev/null c 1 3"),
    _Device("/dev/urandom", "/dev/urandom", "mknod -m 666 /dev/urandom c 1 9"),
    _Device("/proc", "/proc/self/maps", "mount -t proc proc /proc"),
    _Device("/sys", "/sys/devices", "mount -t sysfs sysfs /sys"),
)


class Limit(NamedTuple):
    """A hard limit that has made a program fail."""

    name: str  # "RLIMIT_FSIZE"
    value: int
    what: str  # the limited amount, in words


class Refusal(NamedTuple):
    """A file that this user may not read, or a directory that he may not enter or list."""

    path: str
    facts: dict[str, str]  # the permissions that are missing, and who can grant them


def refusal_on_the_way_to(path: str) -> Refusal | None:
    """Return where permission is refused on the way to a file or directory, itself included.

    The result is None if there is none.
    """
    names = os.path.abspath(path).split(os.sep)
    for count in range(1, len(names) + 1):
        place = os.sep.join(names[:count]) or os.sep
        try:
            found = os.stat(place)
        except OSError:
            return None
        is_directory = stat.S_ISDIR(found.st_mode)
        if not is_directory and count < len(names):
            return None
        needed = os.X_OK if count < len(names) else os.R_OK | os.X_OK if is_directory else os.R_OK
        if not os.access(place, needed):
            return Refusal(place, _facts_of_refusal(place, found, is_directory=is_directory))
    return None


def file_on_the_way_to(path: str) -> str | None:
    """Return a file that is where a directory above a path should be; None if there is none."""
    place = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    return None if os.path.isdir(place) else place


def _facts_of_refusal(place: str, found: os.stat_result, *, is_directory: bool) -> dict[str, str]:
    rights = "rx" if is_directory else "r"
    mode = f"its mode is {stat.S_IMODE(found.st_mode):04o}"
    if found.st_uid == os.geteuid():
        return {
            "detail": f"{mode}: not even its owner may read it",
            "repair": f"chmod u+{rights} {quoted_for_shell(place)}",
        }
    owner = user_name(found.st_uid)
    detail = f"{mode}, and it belongs to {owner}: this user may not {'enter' if is_directory else 'read'} it"
    return {"detail": detail, "owner": owner_or_root(found.st_uid), "permission": f"a+{rights}"}


def temporary_file_refusal() -> tuple[str, OSError] | None:
    """Return where comgr writes temporary files, and why a file of some size cannot be written there.

    The result is None if such a file can be written.
    """
    place = temporary_directory()
    error = _refusal_of_file(place)
    return None if error is None else (place, error)


def other_temporary_directory() -> str | None:
    """Return a directory where temporary files can be written; None if there is none."""
    return next((place for place in _TEMPORARY if _refusal_of_file(place) is None), None)


def _refusal_of_file(directory: str) -> OSError | None:
    try:
        with tempfile.TemporaryFile(prefix="rocm-sdk-test-", dir=directory, buffering=0) as file:
            left = _TEMPORARY_SIZE
            while left > 0:  # near a limit, the first call writes only a part
                left -= file.write(bytes(left)) or 0
    except OSError as error:
        return error
    return None


def limit_behind(said: str) -> Limit | None:
    """Return the hard limit that a message is about; None if no limit is low, or it is about none."""
    for name, value, what in hard_limits():
        if name in _AT_LIMIT and re.search(_AT_LIMIT[name], said):
            return Limit(name, value, what)
    return None


def missing_devices() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the devices that every system should have and this one lacks: the path, and facts.

    The facts have the error of opening the device, and the command that makes it.
    """
    for each in _DEVICES:
        facts = _refusal_of(each)
        if facts is not None:
            yield each.path, facts


def _refusal_of(device: _Device) -> dict[str, str] | None:
    try:
        os.close(os.open(device.opened, os.O_RDONLY | os.O_NONBLOCK))
    except FileNotFoundError as error:
        return {"detail": f"{device.opened}: {error.strerror}", "repair": f"{device.repair}  # as root"}
    except OSError as error:
        return {"detail": f"{device.opened}: {error.strerror}"}
    return None
