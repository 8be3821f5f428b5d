"""What must hold before anything is written: permission and room. And the words for it when it stops holding."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from rocm_sdk.errors import DevelopmentTreeError, RocmSdkError

from .layout import DISTRIBUTION, MODULE

_GB = 1e9


def is_writable(site: str) -> bool:
    """Whether this process may create files in site-packages."""
    return os.access(site, os.W_OK | os.X_OK)


def require_writable(site: str, record: str) -> None:
    """DevelopmentTreeError where files cannot be made, changed or removed as an expansion must."""
    for directory in (site, f"{site}/{MODULE}", os.path.dirname(record)):
        if not is_writable(directory):
            raise DevelopmentTreeError(
                f"cannot write to {directory}, where {DISTRIBUTION} is installed",
                "run `rocm-sdk init` as its owner, or install into a virtual environment of your own",
                directory,
            )


def require_room(site: str, archive: str) -> None:
    """DevelopmentTreeError where the tree cannot fit: it takes at least what the archive takes.

    How much more a compressed one takes, nobody knows before it is read; when the disk is full then, nothing is left.
    """
    needed = os.path.getsize(archive)
    facts = os.statvfs(site)
    free = facts.f_bavail * facts.f_frsize
    if free < needed:
        raise _no_room(site, f"{needed / _GB:.1f} GB are needed at least, {free / _GB:.1f} GB are free")
    if facts.f_files and not facts.f_favail:
        raise _no_room(site, "it has no inodes left")


def require_room_for(site: str, size: int, name: str) -> None:
    """The same for a single large file."""
    facts = os.statvfs(site)
    if facts.f_bavail * facts.f_frsize < size:
        raise _no_room(site, f"{name} alone needs {size / _GB:.1f} GB")


@contextmanager
def explained(site: str) -> Iterator[None]:
    """Turns an error of the operating system into a DevelopmentTreeError that says what to do."""
    try:
        yield
    except RocmSdkError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            facts = os.statvfs(site)
            no_inodes = facts.f_files and facts.f_favail < 100
            reason = "your quota is used up" if error.errno == errno.EDQUOT else "it is full"
            raise _no_room(site, "it has no inodes left" if no_inodes else reason) from error
        raise DevelopmentTreeError(
            f"cannot expand {DISTRIBUTION}: {error}; nothing was changed",
            "if another program removed or reinstalled it meanwhile, run it again",
            site,
        ) from error


def _no_room(site: str, what: str) -> DevelopmentTreeError:
    return DevelopmentTreeError(
        f"no room for the development tree on the file system of {site}: {what}",
        "free some, or share the files with other environments: rocm-sdk init --store DIR",
        site,
    )
