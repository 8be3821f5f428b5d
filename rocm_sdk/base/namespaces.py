"""The calls of the kernel for namespaces and mounts that Python lacks: namespaces(7), mount(2), prctl(2).

Each raises OSError with the call as its file name.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1
_ESCAPE = re.compile(rb"\\([0-7]{3})")  # of letters in mountinfo

libc = ctypes.CDLL(None, use_errno=True)


def call(what: str, name: str, *arguments: Any) -> int:
    """Call a function of the C library, and return its result. Raise OSError with `what` if that is -1."""
    result: int = getattr(libc, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def unshare(flags: int, what: str) -> None:
    """Leave the namespaces of the parent."""
    call(what, "unshare", flags)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    words = [os.fsencode(each) or None for each in (source, target, kind)]
    call(f"mount {target}", "mount", *words, ctypes.c_ulong(flags), os.fsencode(options) or None)


def prctl(option: int, argument: int, what: str) -> None:
    """Change a property of this process."""
    call(what, "prctl", option, *map(ctypes.c_ulong, (argument, 0, 0, 0)))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "prctl PR_SET_PDEATHSIG")


def become_root_of_namespace() -> None:
    """Enter a user namespace in which this user, who is its only one, may mount."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER, "unshare --user")
    die_with_parent()
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1\n"), ("gid_map", f"0 {group} 1\n")):
        Path("/proc/self", name).write_text(text, encoding="utf-8")


def be_private() -> None:
    """Enter a mount namespace whose changes no other namespace sees."""
    unshare(CLONE_NEWNS, "unshare --mount")
    try:
        mount("none", "/", "", MS_REC | MS_PRIVATE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        _enter_private_root()


def _enter_private_root() -> None:
    """Enter a private mount of the root, which in a chroot is not a mount itself.

    It is mounted over /proc, which becomes private first: over a shared mount, it would appear outside the chroot.
    """
    here = os.getcwd()
    try:
        mount("none", "/proc", "", MS_REC | MS_PRIVATE)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} (a chroot, in which /proc is no mount)", "mount /") from error
    mount("/", "/proc", "", MS_BIND | MS_REC)
    mount("none", "/proc", "", MS_REC | MS_PRIVATE)
    os.chroot("/proc")
    os.chdir(here)


def mounts() -> Iterator[tuple[str, list[str]]]:
    """Yield the mount points that this process sees, with the options of each. Raise OSError."""
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            words = line.split()
            point = os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), words[4]))
            yield point, words[5].decode().split(",")


def refuse(error: OSError) -> None:
    """Print the call that this system refuses, as a line of JSON, for the process that started this one."""
    told = f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)
    print(json.dumps({"refused": told}), flush=True)
