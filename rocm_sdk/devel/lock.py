"""The lock that every writer of a development tree holds, on this machine and, over NFS, on others.

The lock is flock(2) on a file of its own, which is never unlinked here: otherwise two processes could hold locks on two
files of the same name. Only pip removes the file, with the package, so a process that gets the lock checks that the
file is still in place.
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

from rocm_sdk.errors import DevelopmentTreeError, DevelopmentTreeLockedError

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


@contextmanager
def exclusive(path: str, timeout: float, say: Callable[[str], None], shared: bool = False) -> Iterator[None]:
    """Yield with the lock file `path` held, which is created if needed.

    timeout: seconds to wait. say: called once with the holder. shared: together with others that hold it shared. Raises
    DevelopmentTreeLockedError when the time is up, DevelopmentTreeError if locking does not work.
    """
    descriptor = _acquire(path, timeout, say, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        if not shared:
            with suppress(OSError):  # a full disk: whoever waits is told of another process then
                _write(descriptor, _holder())
        yield
        if not shared:
            _write(descriptor, "")
    finally:
        _held.discard(descriptor)
        # The unlocking is not left to close: a child that was just forked may still share the open file.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _acquire(path: str, timeout: float, say: Callable[[str], None], kind: int) -> int:
    started = time.monotonic()
    has_said = False
    while True:
        descriptor = _open(path, kind)
        if _try(descriptor, path, kind):
            if _is_in_place(descriptor, path):
                return descriptor
            waited_for_removed_file = True
        else:
            waited_for_removed_file = False
        holder = _read_holder(descriptor)
        _held.discard(descriptor)
        os.close(descriptor)
        if waited_for_removed_file:
            continue
        waited = time.monotonic() - started
        if waited >= timeout:
            raise DevelopmentTreeLockedError(
                f"{holder} works on the development tree and is not done after {timeout:g} s",
                "wait for it, or set a longer --timeout",
                path,
            )
        if waited > 1 and not has_said:
            say(f"waiting for {holder}, which works on the development tree")
            has_said = True
        time.sleep(min(0.02 + waited / 10, 0.5, timeout - waited))


def _open(path: str, kind: int) -> int:
    """Open the lock file. A shared lock needs no permission to write the file, if there is one."""
    shared = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        try:
            descriptor = os.open(path, shared if kind == fcntl.LOCK_SH else _EXCLUSIVE, 0o666)
        except FileNotFoundError:
            descriptor = os.open(path, _EXCLUSIVE, 0o666)
    except OSError as error:
        if error.errno in _OF_NO_FILE:
            raise _is_no_file(path) from error
        raise DevelopmentTreeError(
            f"cannot open the lock file {path}: {error.strerror}",
            "run it as the owner of that directory, or use a virtual environment of your own",
            path,
        ) from error
    _held.add(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        _held.discard(descriptor)
        os.close(descriptor)
        raise _is_no_file(path)
    return descriptor


def _is_no_file(path: str) -> DevelopmentTreeError:
    """Return the error for something else in the lock's place: a directory of that name may be somebody's."""
    is_directory = os.path.isdir(path) and not os.path.islink(path)
    fix = shlex.join(["mv", path, f"{path}.old"] if is_directory else ["rm", path])
    return DevelopmentTreeError(f"the lock file {path} is not a regular file", fix, path)


def _try(descriptor: int, path: str, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        _held.discard(descriptor)
        os.close(descriptor)
        fix = (
            "start the NFS lock service (rpc.statd), or mount with -o local_lock=flock if no other machine writes here"
        )
        raise DevelopmentTreeError(
            f"the file system of {path} refuses locks: {error.strerror}",
            fix if error.errno == errno.ENOLCK else "use an environment on another file system",
            path,
        ) from error
    return True


def _is_in_place(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _holder() -> str:
    command = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])[:80]
    since = time.strftime("%H:%M:%S")
    return f"process {os.getpid()} on {socket.gethostname()} ({command}, since {since})"


def _write(descriptor: int, holder: str) -> None:
    """Write the holder into the lock file. A file that has other names may be anybody's, and is only locked."""
    if os.fstat(descriptor).st_nlink == 1:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(errors="backslashreplace"), 0)


def _read_holder(descriptor: int) -> str:
    return os.pread(descriptor, 400, 0).decode("utf-8", errors="replace") or "another process"
