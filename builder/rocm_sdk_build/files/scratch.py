"""Scratch directories, which are removed at the end of their block. The next run removes those of killed runs.

Each holds a file that its process has locked, and that is removed last.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PREFIX = ".rocm-sdk-build-"
_LOCK = "lock"
_MARK = b"a scratch directory of rocm-sdk-build\n"


@contextmanager
def scratch_directory(place: Path) -> Iterator[Path]:
    """A new directory in `place`, which is made if need be. Unused directories there are removed first."""
    place.mkdir(parents=True, exist_ok=True)
    for path in place.glob(f"{PREFIX}*"):
        _remove_abandoned(path)
    directory, lock = _make(place)
    with lock:
        try:
            yield directory
        finally:
            _remove(directory)


def _make(place: Path) -> tuple[Path, BinaryIO]:
    """A directory, and the file that is locked in it."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        try:
            if (lock := _locked(directory)) is not None:
                return directory, lock
        except FileNotFoundError:  # another run has taken it for one that nobody uses
            continue
        except OSError:  # a full disk
            shutil.rmtree(directory, ignore_errors=True)
            raise


def _locked(directory: Path) -> BinaryIO | None:
    """A new file in it, which is locked and has our mark; None if another run has removed it meanwhile."""
    with ExitStack() as block:
        lock = block.enter_context((directory / _LOCK).open("xb", buffering=0))
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (directory / _LOCK).stat().st_ino != os.fstat(lock.fileno()).st_ino:
            return None
        lock.write(_MARK)
        block.pop_all()
        return lock


def _remove_abandoned(directory: Path) -> None:
    """Removes a directory that is ours, has our mark, and that no process has locked."""
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


def _remove_tree(directory: Path) -> None:
    """Removes a directory, also what is in directories that nobody may write to."""
    with suppress(OSError):  # a compiler of a killed run still writes
        directory.chmod(stat.S_IRWXU)
        for parent, names, _ in os.walk(directory):
            for path in (Path(parent, name) for name in names):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)  # before os.walk lists it
    shutil.rmtree(directory, ignore_errors=True)


def _remove(directory: Path) -> None:
    """Removes the locked file after all others.

    The next run removes what is left if this run is killed meanwhile, or if a compiler of a killed run still writes.
    """
    for path in directory.iterdir():
        if path.name == _LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            _remove_tree(path)
        else:
            path.unlink(missing_ok=True)
    if [path.name for path in directory.iterdir()] == [_LOCK]:
        (directory / _LOCK).unlink()
        with suppress(FileNotFoundError):  # another run has taken it for one that nobody uses
            directory.rmdir()
