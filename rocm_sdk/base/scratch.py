"""The scratch directories of commands, which are removed at the end of their block.

The next run removes the directories of killed runs. Each contains a file that its process has locked, and that is
removed last.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .removal import remove

if TYPE_CHECKING:
    from types import FrameType

_LOCK = "lock"
_MARK = b"a scratch directory of rocm-sdk\n"
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_DEFERRED = (*_ENDING, signal.SIGINT)  # while a directory is made or removed


@contextmanager
def scratch_directory(place: Path, prefix: str) -> Iterator[Path]:
    """Yield a new directory in `place`, which is made if need be.

    Unused directories in `place` that have the prefix are removed first.
    """
    place.mkdir(parents=True, exist_ok=True)
    for path in place.glob(f"{prefix}*"):
        _remove_abandoned(path)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
    try:
        directory, lock = _make(place, prefix)
        with lock:
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                yield directory
            finally:
                try:
                    signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)  # an earlier signal raises its exception here
                finally:
                    _remove(directory)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _EndedError(BaseException):
    """The exception for a signal that ends the process."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def removed_at_signals() -> Iterator[None]:
    """Yield; SIGTERM and SIGHUP leave the block as an exception, and then end the process. For commands.

    A signal that the process ignores stays ignored. Outside the main thread, nothing can be done.
    """
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [number for number in _ENDING if is_main and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in numbers:
            signal.signal(number, _end)
        yield
    except _EndedError as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    raise _EndedError(number)


def _make(place: Path, prefix: str) -> tuple[Path, BinaryIO]:
    """Make a directory. Return it, and the file that is locked in it."""
    while True:
        try:
            directory = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        except OSError as error:  # it names the directory that was not made
            raise type(error)(error.errno, error.strerror, str(place)) from None
        try:
            if (lock := _locked(directory)) is not None:
                return directory, lock
        except FileNotFoundError:  # another run has taken it for an unused one
            continue
        except OSError:  # a full disk
            shutil.rmtree(directory, ignore_errors=True)
            raise


def _locked(directory: Path) -> BinaryIO | None:
    """Make the lock file in a directory, locked and with our mark.

    Return None if another run has removed it meanwhile.
    """
    with ExitStack() as block:
        lock = block.enter_context((directory / _LOCK).open("xb", buffering=0))
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (directory / _LOCK).stat().st_ino != os.fstat(lock.fileno()).st_ino:
            return None
        lock.write(_MARK)
        block.pop_all()
        return lock


def _remove_abandoned(directory: Path) -> None:
    """Remove a directory if it is ours, has our mark, and no process has locked it."""
    try:
        facts = directory.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
            return
        directory.rmdir()  # of a run that was killed before it had made the file
        return
    except OSError:
        pass
    try:
        descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # no file of ours
        return
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = os.read(descriptor, len(_MARK) + 1)
        if text == _MARK or (not text and [path.name for path in directory.iterdir()] == [_LOCK]):
            _remove(directory)
    except OSError:  # in use, or no file
        return
    finally:
        os.close(descriptor)


def _remove(directory: Path) -> None:
    """Remove the files of a scratch directory, the locked one last, and the directory.

    The next run removes what is left if this run is killed meanwhile, or if a compiler of a killed run still writes.
    """
    for path in directory.iterdir():
        if path.name == _LOCK:
            continue
        with suppress(OSError):  # a compiler of a killed run still writes
            remove(str(path))
    if [path.name for path in directory.iterdir()] == [_LOCK]:
        (directory / _LOCK).unlink()
        with suppress(FileNotFoundError):  # another run has taken it for an unused one
            directory.rmdir()
