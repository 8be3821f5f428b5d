"""Directories in which nobody else can replace this user's files: code is loaded from there.

The links of `rocm-sdk run`, the libraries that `check` unpacks and loads, the copies in which fixes are tried, and
comgr's cache are there. Whoever may write to a directory may rename what is in it, no matter who owns it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

FURTHER_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # if TMPDIR names none


def refusal(place: str) -> str | None:
    """Return why a directory is not such a place; None if it is one. Its parents count, too."""
    if not os.path.isabs(place):
        return "it depends on the current directory"
    real = os.path.realpath(place)
    try:
        if not os.path.isdir(real):
            return "there is no such directory"
        while _is_own(os.lstat(real)):
            if real == "/":
                return None
            real = os.path.dirname(real)
    except OSError as error:
        return str(error.strerror)
    return f"others can replace what is in {real}"


def scratch_place() -> str:
    """Return the directory for temporary files that are loaded: the usual one, or the next that is such a place.

    Raises PermissionError, which says what is wrong with the first, if there is none.
    """
    import tempfile  # here: `rocm-sdk run` asks for no such place

    first = os.path.abspath(tempfile.gettempdir())
    if not os.path.isdir(first) or (why := refusal(first)) is None:
        return first
    for place in FURTHER_PLACES:
        if os.access(place, os.W_OK | os.X_OK) and refusal(place) is None:
            return place
    raise PermissionError(errno.EPERM, why, first)


def private_directory() -> str | None:
    """Return the shell commands that make TMPDIR such a place; None if the user's home is not one."""
    if refusal(os.path.expanduser("~")) is not None:
        return None
    is_wrong = os.path.isdir(os.path.expanduser("~/tmp")) and refusal(os.path.expanduser("~/tmp")) is not None
    return f"{'chmod go-w' if is_wrong else 'mkdir -m 700 -p'} ~/tmp && export TMPDIR=~/tmp"


def _is_own(facts: os.stat_result) -> bool:
    """Return whether only this user and root can rename what this user has made in a directory.

    No group is trusted: others may be in this user's own one, and the mask of an ACL looks like a group's permission.
    """
    has_owner = facts.st_uid in {0, os.geteuid(), _overflow_user()}
    return has_owner and (not facts.st_mode & (stat.S_IWOTH | stat.S_IWGRP) or bool(facts.st_mode & stat.S_ISVTX))


def _overflow_user() -> int:
    """Return the owner that a container shows for users whom it does not know.

    For files of an image this user is root of the machine. The result is 0 if the kernel does not say.
    """
    with suppress(OSError, ValueError), open("/proc/sys/kernel/overflowuid", encoding="ascii") as file:
        return int(file.read())
    return 0
