"""The checks of permission and disk space before anything is written, and the words for errors that occur later."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from rocm_sdk.base.value_text import size_text
from rocm_sdk.errors import DevelopmentTreeError, RocmSdkError
from rocm_sdk.problems import fix_of, problem

from .layout import DISTRIBUTION, MODULE


def is_writable(site: str) -> bool:
    """Return whether this process may create files in site-packages."""
    return os.access(site, os.W_OK | os.X_OK)


def require_writable(site: str, record: str) -> None:
    """Raise DevelopmentTreeError if an extraction could not create, change or remove its files."""
    if os.statvfs(site).f_flag & os.ST_RDONLY:
        raise DevelopmentTreeError(
            f"cannot write to {site}: it is on a file system that is mounted read-only",
            "run `rocm-sdk init` before the file system is made of it, or use an SDK in a directory of your own",
            site,
        )
    for directory in (site, f"{site}/{MODULE}", os.path.dirname(record)):
        if not is_writable(directory):
            raise DevelopmentTreeError(
                f"cannot write to {directory}, where {DISTRIBUTION} is installed",
                "run `rocm-sdk init` as its owner, or install into a virtual environment of your own",
                directory,
            )


def require_space(site: str, archive: str) -> None:
    """Raise DevelopmentTreeError if the tree cannot fit: it needs at least the size of the archive.

    The content of a compressed archive is larger, but its size is known only after reading it. If the disk is full by
    then, the extraction leaves nothing behind.
    """
    needed = os.path.getsize(archive)
    facts = os.statvfs(site)
    free = facts.f_bavail * facts.f_frsize
    if free < needed:
        raise _no_space(site, f"at least {size_text(needed)} are needed, {size_text(free)} are free")
    if facts.f_files and not facts.f_favail:
        raise _no_space(site, "it has no inodes left")


def require_space_for(site: str, size: int, name: str) -> None:
    """Raise DevelopmentTreeError if a single large file cannot fit."""
    facts = os.statvfs(site)
    if facts.f_bavail * facts.f_frsize < size:
        raise _no_space(site, f"{name} alone needs {size_text(size)}")


@contextmanager
def explained(site: str) -> Iterator[None]:
    """Yield, and turn an error of the operating system into a DevelopmentTreeError with a fix."""
    try:
        yield
    except RocmSdkError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            facts = os.statvfs(site)
            no_inodes = facts.f_files and facts.f_favail < 100
            reason = "your quota is used up" if error.errno == errno.EDQUOT else "it is full"
            raise _no_space(site, "it has no inodes left" if no_inodes else reason) from error
        if error.errno == errno.EFBIG:
            raise DevelopmentTreeError(
                "cannot make the development tree ready: a file of it is larger than this process may write; the next"
                " `rocm-sdk init` completes it",
                _larger_files(),
                site,
            ) from error
        raise DevelopmentTreeError(
            f"cannot make the development tree ready: {error}; the next `rocm-sdk init` completes it",
            f"if another program removed or reinstalled {DISTRIBUTION} at the same time, try again",
            site,
        ) from error


def _larger_files() -> str:
    """Return the fix that allows larger files: lift the limit of this process, if any, or use another file system."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard != resource.RLIM_INFINITY:
        return fix_of(problem("E-ENV-011"))
    return "take a file system that has larger files" if soft == hard else "ulimit -f unlimited"


def _no_space(site: str, what: str) -> DevelopmentTreeError:
    return DevelopmentTreeError(
        f"not enough disk space for the development tree on the file system of {site}: {what}",
        "free some space, or share the files with other environments: rocm-sdk init --store DIR",
        site,
    )
