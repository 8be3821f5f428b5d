"""The locks of writers, on this machine and, over NFS, on others, with a limit of time.

A lock is flock(2) on a file of its own. The file may be removed while others wait for it, by pip with its package or by
the holder, so a process that gets the lock checks that the file is still in place. Whoever can open the file to read
it can lock it, so only those who may write to its directory can read it. If another user holds the lock anyway, he is
named, and not waited for.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from .users import user_name

_EXCLUSIVE = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# Errors of opening a link, a directory and a socket.
_OF_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)

_held: set[int] = set()


def _close_inherited() -> None:
    # A forked child shares the open file, and with it the lock, even after this process has died.
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_close_inherited)


class Purpose(NamedTuple):
    """The purpose of a lock. failed, late (None: the same): make an error of a message, a fix and a path."""

    task: str  # words that follow the holder
    failed: Callable[[str, str, str], Exception]
    late: Callable[[str, str, str], Exception] | None = None
    patience: str = "wait for it, and run this again"
    has_readers: bool = False  # users who may only read the directory take part
    is_needed: bool = True  # False: the work is done even if the file system refuses locks
    is_kept: bool = True  # False: the holder removes the file


class Holder(NamedTuple):
    """A process that holds a lock. is_stranger: its user may not write there."""

    pid: int
    user: str
    is_stranger: bool


@contextmanager
def held(
    purpose: Purpose, path: str, timeout: float, say: Callable[[str], None], shared: bool = False
) -> Iterator[None]:
    """Yield with the lock file `path` held, which is created if needed.

    timeout: seconds to wait. say: called once with the holder. shared: others may hold it shared at the same time.
    Raises the errors of the purpose: `late` when the time is up or a stranger holds it, `failed` if locking fails.
    """
    descriptor = _acquire(purpose, path, timeout, say, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        if not shared:
            with suppress(OSError):  # a full disk: those who wait then only learn the process
                command = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])[:80]
                since = time.strftime("%H:%M:%S")
                _write(descriptor, f"process {os.getpid()} on {socket.gethostname()} ({command}, since {since})")
        yield
        if not shared:
            _write(descriptor, "")
    finally:
        if not purpose.is_kept:
            with suppress(OSError):
                os.unlink(path)
        _held.discard(descriptor)
        # The unlocking is not left to close: a child that was just forked may still share the open file.
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _acquire(purpose: Purpose, path: str, timeout: float, say: Callable[[str], None], kind: int) -> int:
    late = purpose.late or purpose.failed
    started = time.monotonic()
    has_said = False
    while True:
        descriptor = _open(purpose, path, kind)
        is_locked = _try(purpose, descriptor, path, kind)
        if is_locked and _is_in_place(descriptor, path):
            return descriptor
        waited = time.monotonic() - started
        is_known = not is_locked and waited >= min(timeout, 1)
        holder = holder_of(descriptor, os.path.dirname(path), purpose.has_readers) if is_known else None
        words = os.pread(descriptor, 400, 0).decode("utf-8", errors="replace")  # perhaps of a process that was killed
        _held.discard(descriptor)
        os.close(descriptor)
        if is_locked:
            continue  # a removed file
        if holder is None:
            words = f"{words or 'another process'} (/proc/locks does not show the holder)"
        elif not words.startswith(f"process {holder.pid} on "):
            words = f"process {holder.pid} of {holder.user}"
        if holder is not None and holder.is_stranger:
            what = f"{words}, who may not write there, holds the lock {path}"
            raise late(what, f"have it ended (as root: kill {holder.pid}), and run this again", path)
        if waited >= timeout:
            raise late(f"{words} {purpose.task} and is not done after {timeout:g} s", purpose.patience, path)
        if is_known and not has_said:
            say(f"waiting for {words}, which {purpose.task}")
            has_said = True
        time.sleep(min(0.02 + waited / 10, 0.5, timeout - waited))


def holder_of(descriptor: int, directory: str, has_readers: bool = False) -> Holder | None:
    """Return a process that holds the lock of an open file in a directory, if possible a stranger; None: none is seen.

    The kernel shows none on another machine or in another container. has_readers: whoever shares it is no stranger.
    """
    found = None
    with suppress(OSError):
        place = os.stat(directory)
        for pid, is_shared in _rows(descriptor):
            with suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                facts = {name: words.split() for name, _, words in (line.partition(":") for line in file)}
                user, groups = int(facts["Uid"][1]), {facts["Gid"][1], *facts["Groups"]}
                is_member = place.st_mode & stat.S_IWGRP and (
                    # The mode of the group is the mask of an ACL, which may name the user.
                    str(place.st_gid) in groups or "system.posix_acl_access" in os.listxattr(directory)
                )
                may_write = user in {0, place.st_uid} or place.st_mode & stat.S_IWOTH or is_member
                found = Holder(pid, user_name(user), not (may_write or (is_shared and has_readers)))
                if found.is_stranger:
                    break
    return found


def _rows(descriptor: int) -> Iterator[tuple[int, bool]]:
    """Yield each process that holds the lock of an open file, and whether it is a shared one."""
    facts = os.fstat(descriptor)
    device = f"{os.major(facts.st_dev)}:{os.minor(facts.st_dev)}"  # in a chroot, where the mount is not listed
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as file:
        mount = next((line.split()[1] for line in file if line.startswith("mnt_id:")), "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        # Not stat's number on btrfs and overlayfs.
        device = next((row[2] for row in map(str.split, file) if row[0] == mount), device)
    wanted = "{:02x}:{:02x}:".format(*map(int, device.split(":"))) + str(facts.st_ino)
    with open("/proc/locks", encoding="ascii") as file:
        for row in map(str.split, file):
            if row[1] == "FLOCK" and row[5] == wanted:  # "->" stands before one that waits
                yield int(row[4]), row[3] == "READ"


def _open(purpose: Purpose, path: str, kind: int) -> int:
    """Open the lock file. A shared lock needs no permission to write the file, if there is one."""
    shared = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    mode = 0o666 if purpose.has_readers else 0o600
    try:
        try:
            descriptor = os.open(path, shared if kind == fcntl.LOCK_SH else _EXCLUSIVE, mode)
        except FileNotFoundError:
            descriptor = os.open(path, _EXCLUSIVE, mode)
    except OSError as error:
        if error.errno in _OF_NO_FILE:
            raise _is_no_file(purpose, path) from error
        raise purpose.failed(
            f"cannot open the lock file {path}: {error.strerror}",
            "run it as the owner of that directory, or use a virtual environment of your own",
            path,
        ) from error
    _held.add(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        _held.discard(descriptor)
        os.close(descriptor)
        raise _is_no_file(purpose, path)
    if not purpose.has_readers:
        _correct_mode(descriptor, os.path.dirname(path))
    return descriptor


def _correct_mode(descriptor: int, directory: str) -> None:
    """Let only those open the lock file who may write to its directory. Others' files, or linked ones, stay as is."""
    facts, place, user = os.fstat(descriptor), os.stat(directory), os.geteuid()
    mode = 0o600 | (place.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) * 3  # and read
    if facts.st_nlink == 1 and user in {0, facts.st_uid} and facts.st_uid in {user, place.st_uid}:
        try:
            os.fchown(descriptor, -1 if user else place.st_uid, place.st_gid)
        except OSError:  # this user is not in that group
            mode &= ~stat.S_IRWXG
        with suppress(OSError):  # a file system without modes
            os.fchmod(descriptor, mode)


def _is_no_file(purpose: Purpose, path: str) -> Exception:
    """Return the error for something else where the lock should be, such as somebody's directory of that name."""
    is_directory = os.path.isdir(path) and not os.path.islink(path)
    fix = shlex.join(["mv", path, f"{path}.old"] if is_directory else ["rm", path])
    return purpose.failed(f"the lock file {path} is not a regular file", fix, path)


def _try(purpose: Purpose, descriptor: int, path: str, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if not purpose.is_needed:
            return True
        _held.discard(descriptor)
        os.close(descriptor)
        fix = (
            "start the NFS lock service (rpc.statd), or mount with -o local_lock=flock if no other machine writes here"
        )
        raise purpose.failed(
            f"the file system of {path} refuses locks: {error.strerror}",
            fix if error.errno == errno.ENOLCK else "use an environment on another file system",
            path,
        ) from error
    return True


def _is_in_place(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _write(descriptor: int, holder: str) -> None:
    """Write the holder into the lock file. A file with further links may be anybody's, and is only locked."""
    if os.fstat(descriptor).st_nlink == 1:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(errors="backslashreplace"), 0)
