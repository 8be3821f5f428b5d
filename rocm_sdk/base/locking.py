"""A wait for a lock on a file or directory, with a limit."""

from __future__ import annotations

import fcntl
import time

_INTERVAL = 0.1  # seconds between two tries


def lock_within(descriptor: int, seconds: float) -> bool:
    """Lock the file or directory of a descriptor exclusively (flock(2)). Return False if others hold it for too long.

    seconds: the time to wait for others. Raises OSError where the file system has no locks.
    """
    end = time.monotonic() + seconds
    while not (is_locked := _try(descriptor)) and time.monotonic() < end:
        time.sleep(_INTERVAL)
    return is_locked


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
