"""The loads of libraries with the program load_check, each in a separate process, several at a time."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, NamedTuple

from rocm_sdk.base.processes import begin

from .surroundings import OURS, Surroundings, slowness

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load_check")
_OUTPUT_LIMIT = 2048  # bytes of a library's output
_FIELDS = 6
_BEGUN = "begun"
_CHUNK = 1 << 16  # bytes
_START = 10.0  # seconds until load_check has begun
_START_AGAIN = 1.0  # the limit if only the beginning matters
_SLACK = 10.0  # seconds beyond the limit of a load, until the processes that load_check has killed are gone
_END = 5.0  # seconds that load_check has to end after SIGTERM


class LoadResult(NamedTuple):
    """The result of loading one library."""

    path: str
    outcome: str  # "loaded", "refused", "killed", "ended", "stuck", "lost" (load_check died while loading it)
    number: int  # of the signal, or the exit status
    seconds: float
    dlerror_text: str  # for a stuck one, the GPU's device that it was seen to wait for
    output: str  # what the library printed


def load_all(
    paths: Iterable[str],
    seconds: int,
    parallel: int,
    library_path: str | None = None,
    surroundings: Surroundings = OURS,
) -> Iterator[LoadResult]:
    """Try to load each path alone with RTLD_NOW. Yield results as they come, one for each path.

    seconds: the time limit of each. library_path: LD_LIBRARY_PATH of the processes; None: unchanged. If the program is
    killed, the result of the current library is "lost", and the program is started again with the rest. Raises OSError
    if the program does not start, SilentError if it hangs, and RuntimeError with its message if it fails.
    """
    waiting = list(paths)
    while waiting:
        begun: set[int] = set()
        in_hand: set[int] = set()
        try:
            for index, result in _load_once(waiting, seconds, parallel, library_path, surroundings):
                if result.outcome == _BEGUN:
                    begun.add(index)
                    in_hand.add(index)
                elif index in in_hand:
                    in_hand.remove(index)
                    yield result
                else:
                    raise RuntimeError(f"load_check: a result for {result.path}, which was not in hand")
        except _LoadCheckKilledError as killed:
            if not begun:
                raise RuntimeError(str(killed)) from killed
            for index in sorted(in_hand):
                yield LoadResult(waiting[index], "lost", killed.signal, 0.0, "", "")
        waiting = [path for index, path in enumerate(waiting) if index not in begun]


def begins(names: Sequence[str], surroundings: Surroundings, _seconds: float) -> list[bool]:
    """Return whether load_check starts and ends in other surroundings, without a library; the same for each name."""
    try:
        works = list(_load_once([], 1, 1, None, surroundings, _START_AGAIN * slowness())) == []
    except (OSError, RuntimeError, _LoadCheckKilledError):
        works = False
    return [works for _ in names]


@contextmanager
def search_path(directories: Iterable[str]) -> Iterator[str]:
    """Yield LD_LIBRARY_PATH for the directories.

    A colon or semicolon would end a name there: links replace such names.
    """
    directories = list(directories)
    if not any({":", ";"} & set(directory) for directory in directories):
        yield ":".join(directories)  # even if no temporary file can be made
        return
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-test-") as links:
        names = []
        for number, directory in enumerate(directories):
            names.append(directory)
            if {":", ";"} & set(directory):
                names[-1] = os.path.join(links, str(number))
                os.symlink(directory, names[-1])
        yield ":".join(names)


class SilentError(RuntimeError):
    """The error for a load_check that is silent for longer than its start, or a load, may take.

    A constructor may hang.
    """


class _LoadCheckKilledError(Exception):
    """The exception for a load_check that was killed."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"load_check was killed by signal {signal} before it loaded anything")
        self.signal = signal


def _load_once(  # noqa: PLR0917
    wanted: list[str],
    seconds: int,
    parallel: int,
    library_path: str | None,
    surroundings: Surroundings,
    start: float | None = None,
) -> Iterator[tuple[int, LoadResult]]:
    """Yield the records of one load_check, in their order, each with the index of its path.

    start: seconds until the first. Raises _LoadCheckKilledError after the records of one that is killed.
    """
    results, given = os.pipe()
    try:
        process = begin(
            [PROGRAM, str(parallel), str(seconds), str(_OUTPUT_LIMIT), str(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            kept=(given,),
            base=surroundings.variables,
            directory=surroundings.directory,
            variables={"LD_LIBRARY_PATH": library_path} if library_path is not None else None,
        )
    except OSError:
        os.close(results)
        raise
    finally:
        os.close(given)
    assert process.stdin is not None
    assert process.stdout is not None
    feed = _Feed(process.stdin, b"".join(os.fsencode(path) + b"\0" for path in wanted))
    words = _Words(process.stdout.fileno(), feed)
    ended = 0
    try:
        for fields in _records(words.beside(results, _START if start is None else start, seconds + _SLACK)):
            texts = [field.decode(errors="replace") for field in fields]
            index, outcome, number, microseconds, dlerror_text, output = texts
            path, seconds_of_load = wanted[int(index)], int(microseconds) / 1e6
            ended += outcome != _BEGUN
            yield int(index), LoadResult(path, outcome, int(number), seconds_of_load, dlerror_text, output.strip())
        status, said = process.wait(), words.last_line
    finally:
        process.terminate()  # load_check kills its children and their descendants first
        feed.end()
        process.stdout.close()
        os.close(results)
        if not _has_ended(process.wait):
            process.kill()
            _has_ended(process.wait)  # otherwise load_check is left to the kernel
    if status < 0:
        raise _LoadCheckKilledError(-status)
    if status != 0 or ended != len(wanted):
        raise RuntimeError(said or f"load_check: exit status {status}, {ended} results for {len(wanted)} libraries")


def _has_ended(wait: Callable[[float], int]) -> bool:
    """Return whether a process that was told to end does so. wait: waits for this many seconds."""
    try:
        wait(_END)
    except subprocess.TimeoutExpired:
        return False
    return True


class _Feed:
    """The input of load_check, written while it reads: a load_check that hangs reads nothing."""

    def __init__(self, stdin: IO[bytes], data: bytes) -> None:
        self._stdin = stdin
        self._data = memoryview(data)
        os.set_blocking(stdin.fileno(), False)

    def fileno(self) -> int:
        return self._stdin.fileno()

    def write(self) -> bool:
        """Write as much as fits. Return False once everything is written, or nobody reads it."""
        try:
            self._data = self._data[os.write(self.fileno(), self._data) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return bool(self._data)

    def end(self) -> None:
        """Close the input of load_check."""
        with suppress(BrokenPipeError):
            self._stdin.close()


class _Words:
    """The text that load_check prints, or that a variable makes its process print: its end is kept."""

    def __init__(self, descriptor: int, feed: _Feed) -> None:
        self._descriptor = descriptor
        self._feed = feed
        self._text = b""

    def beside(self, results: int, start: float, seconds: float) -> Iterator[bytes]:
        """Yield the data of another descriptor, until its end. Nothing waits for a reader.

        start, seconds: the limits until the first data, and between two. Raises SilentError if nothing comes for
        longer.
        """
        os.set_blocking(self._descriptor, False)
        with selectors.DefaultSelector() as selector:
            selector.register(results, selectors.EVENT_READ)
            selector.register(self._descriptor, selectors.EVENT_READ)
            selector.register(self._feed, selectors.EVENT_WRITE)
            limit = start
            deadline = monotonic() + limit
            while results in selector.get_map():
                if monotonic() >= deadline:
                    raise SilentError(f"load_check: it said nothing for {limit:g} s")
                for key, _ in selector.select(max(deadline - monotonic(), 0)):
                    if key.fileobj is self._feed:
                        if not self._feed.write():
                            selector.unregister(self._feed)
                            self._feed.end()
                    elif key.fd != results:
                        if not self._read():
                            selector.unregister(key.fd)
                    elif data := os.read(results, _CHUNK):
                        yield data
                        limit = seconds
                        deadline = monotonic() + limit
                    else:
                        selector.unregister(results)

    def _read(self) -> bool:
        """Read what is there. Return False at the end."""
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return True
        self._text = (self._text + data)[-_OUTPUT_LIMIT:]
        return bool(data)

    @property
    def last_line(self) -> str:
        """The last line, after the end of the process; "" if there is none."""
        self._read()
        lines = self._text.decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _records(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = b""
    for chunk in chunks:
        *fields, rest = (rest + chunk).split(b"\0")
        while len(fields) >= _FIELDS:
            yield fields[:_FIELDS]
            fields = fields[_FIELDS:]
        rest = b"\0".join([*fields, rest])


def default_parallel() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
