"""Runs programs: several at a time, each with a time limit, without core dumps, with bounded output.

No process is left when the wait ends, also after Ctrl-C: each program has a session of its own, which is killed.
"""

from __future__ import annotations

import os
import resource
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, NamedTuple, cast

from rocm_sdk.base.starting import begin

_OUTPUT_LIMIT = 1 << 16  # bytes of a program's output that are kept; the rest is read and discarded
_CHUNK = 1 << 16
_POLL_INTERVAL = 0.01  # seconds
_KILL_SECONDS = 5.0  # seconds to wait for a killed program: one that is blocked in the kernel cannot exit


class Ended(NamedTuple):
    """How a program ended."""

    status: int | None  # exit status; negative: the signal that killed it; None: killed at the time limit
    output: str  # the beginning of its stdout and stderr
    refusal: OSError | None = None  # why it could not be started

    @property
    def last_line(self) -> str:
        return next((line for line in reversed(self.output.splitlines()) if line.strip()), "it printed nothing").strip()

    @property
    def how(self) -> str:
        """A description: "exit status 1"."""
        if self.refusal is not None:
            return str(self.refusal.strerror)
        if self.status is None:
            return "it did not end"
        if self.status < 0:
            return f"it was killed by {signal_name(-self.status)}"
        return f"exit status {self.status}"


def signal_name(number: int) -> str:
    """ "SIGSEGV"; real-time signals have numbers alone."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run_program(command: Sequence[str], seconds: float, variables: Mapping[str, str] | None = None) -> Ended:
    """Runs one program. seconds: its time limit. variables: added to the environment."""
    return next(run_programs([command], seconds, 1, variables))


def run_programs(
    commands: Sequence[Sequence[str]], seconds: float, parallel: int, variables: Mapping[str, str] | None = None
) -> Iterator[Ended]:
    """Runs programs, at most `parallel` at a time; yields how they ended, in the order of the commands."""
    waiting = list(enumerate(commands))
    running: list[_Child] = []
    ended: dict[int, Ended] = {}
    with selectors.DefaultSelector() as selector:
        try:
            for number in range(len(commands)):
                while number not in ended:
                    while waiting and len(running) < parallel:
                        index, command = waiting.pop(0)
                        try:
                            with _without_interruption():
                                running.append(_Child(index, command, seconds, variables, selector))
                        except OSError as error:
                            ended[index] = Ended(None, "", error)
                    _take_output(selector)
                    for child in [child for child in running if child.is_over()]:
                        running.remove(child)
                        ended[child.index] = child.finish()
                yield ended.pop(number)
        finally:
            for child in running:
                child.finish()


@contextmanager
def _without_interruption() -> Iterator[None]:
    """Delays Ctrl-C until a program that is being started is in the list of those to kill.

    The program inherits the blocked signal; in a session of its own it would not receive it anyway.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _take_output(selector: selectors.BaseSelector) -> None:
    for key, _ in selector.select(_POLL_INTERVAL):
        key.data.read()


class _Child:
    """A running program."""

    def __init__(
        self,
        index: int,
        command: Sequence[str],
        seconds: float,
        variables: Mapping[str, str] | None,
        selector: selectors.BaseSelector,
    ) -> None:
        self.index = index
        self._deadline = monotonic() + seconds
        self._selector = selector
        self._output = b""
        self._process = begin(
            command,
            variables=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            session=True,
        )
        self._pipe = cast("IO[bytes]", self._process.stdout)
        os.set_blocking(self._pipe.fileno(), False)
        selector.register(self._pipe, selectors.EVENT_READ, self)
        # One byte: with a limit of 0 a program of core_pattern would still receive a core (core(5)).
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (1, 1))

    def read(self) -> bool:
        """Reads the available output; returns whether there may be more."""
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        self._output = (self._output + data)[:_OUTPUT_LIMIT]
        if not data:
            with suppress(KeyError):
                self._selector.unregister(self._pipe)
        return bool(data)

    def is_over(self) -> bool:
        return self._process.poll() is not None or monotonic() > self._deadline

    def finish(self) -> Ended:
        """Kills its remaining processes, and returns how it ended."""
        status = self._process.poll()
        for _ in range(_OUTPUT_LIMIT // _CHUNK + 1):
            if not self.read():
                break
        with suppress(KeyError):
            self._selector.unregister(self._pipe)
        self._pipe.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)
        return Ended(status, self._output.decode(errors="replace"))
