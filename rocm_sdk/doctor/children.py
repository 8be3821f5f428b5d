"""The runs of programs: several at a time, each with a time limit, without core dumps, with bounded output.

No process is left when the wait ends, even after Ctrl-C: each program has its own session, which is killed. A process
that has left that session becomes a child of this process when its parent ends, and is killed, too: a variable that it
has inherited tells it from other children of this process, which may be part of a larger program.
"""

from __future__ import annotations

import errno
import os
import resource
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import IO, NamedTuple, cast

from rocm_sdk.base import namespaces
from rocm_sdk.base.processes import begin

from .surroundings import OURS, Child, Surroundings

_OUTPUT_LIMIT = 1 << 16  # bytes of a program's output that are kept; the rest is read and discarded
_CHUNK = 1 << 16
_POLL_INTERVAL = 0.01  # seconds
_PR_SET_CHILD_SUBREAPER = 36
_MARK = "_ROCM_SDK_STARTED_BY"  # a variable of each program, with another value for each run
_runs = count()
_KILL_SECONDS = 5.0  # seconds to wait for a killed program: one that is blocked in the kernel cannot exit


class Ended(NamedTuple):
    """The end of a program."""

    status: int | None  # exit status; negative: the signal that killed it; None: killed at the time limit
    output: str  # the beginning of its stdout and stderr
    refusal: OSError | None = None  # why it could not be started
    answer: str = ""  # the text that it wrote to its descriptor for answers
    seconds: float = 0.0  # the time of its run

    @property
    def last_line(self) -> str:
        """The last line of the output that is not blank, or "it printed nothing"."""
        return last_line(self.output)

    @property
    def how(self) -> str:
        """The end in words: "exit status 1"."""
        if self.refusal is not None:
            return str(self.refusal.strerror)
        if self.status is None:
            return "it did not end"
        if self.status < 0:
            return f"it was killed by {signal_name(-self.status)}"
        return f"exit status {self.status}"


def last_line(text: str) -> str:
    """Return the last line that a program has printed."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing").strip()


def signal_name(number: int) -> str:
    """Return the name of a signal: "SIGSEGV"; real-time signals have only numbers."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Way(NamedTuple):
    """The way to run programs."""

    seconds: float  # the time limit of each
    parallel: int = 1  # programs at a time
    variables: Mapping[str, str] | None = None  # added to the environment
    surroundings: Surroundings = OURS
    answers: bool = False  # each gets, as its last argument, the number of a descriptor for its answer


def run_program(command: Sequence[str], seconds: float, variables: Mapping[str, str] | None = None) -> Ended:
    """Run one program, and return how it ended. seconds: its time limit. variables: additions to the environment."""
    return run_so(command, Way(seconds, variables=variables))


def run_so(command: Sequence[str], way: Way) -> Ended:
    """Run one program in a way, and return how it ended."""
    return next(run_programs([command], way))


def run_programs(commands: Sequence[Sequence[str]], way: Way) -> Iterator[Ended]:
    """Run programs. Yield how they ended, in the order of the commands."""
    mark = f"{os.getpid()}-{next(_runs)}"
    way = way._replace(variables={**(way.variables or {}), _MARK: mark})
    waiting = list(enumerate(commands))
    running: list[_Process] = []
    ended: dict[int, Ended] = {}
    with _strays_ended(mark), selectors.DefaultSelector() as selector:
        try:
            for number in range(len(commands)):
                while number not in ended:
                    while waiting and len(running) < way.parallel:
                        index, command = waiting.pop(0)
                        try:
                            with _without_interruption():
                                running.append(_Process(index, command, way, selector))
                        except OSError as error:
                            if error.errno == errno.EMFILE and running:  # programs that end give descriptors back
                                waiting.insert(0, (index, command))
                                break
                            ended[index] = Ended(None, "", error)
                    for key, _ in selector.select(_POLL_INTERVAL):
                        key.data.read()
                    for child in [child for child in running if child.is_over()]:
                        running.remove(child)
                        ended[child.index] = child.finish()
                yield ended.pop(number)
        finally:
            for child in running:
                child.finish()


@contextmanager
def _without_interruption() -> Iterator[None]:
    """Yield with Ctrl-C delayed until a program that is being started is in the list of programs to kill.

    The program inherits the blocked signal; in a session of its own it would not receive it anyway.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _strays_ended(mark: str) -> Iterator[None]:
    """Yield, and kill the processes that marked programs have left behind, in other sessions.

    From the beginning of the block on, an orphan below this process becomes its child.
    """
    with suppress(OSError):  # a filter of system calls: processes that leave their session are left
        namespaces.prctl(_PR_SET_CHILD_SUBREAPER, 1, "prctl PR_SET_CHILD_SUBREAPER")
    try:
        yield
    finally:
        end = monotonic() + _KILL_SECONDS
        killed: set[int] = set()
        while monotonic() < end:
            killed |= (found := set(_strays(mark)))  # each round orphans others
            for process in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            killed = {process for process in killed if not _is_gone(process)}
            if not found and not killed:
                break
            sleep(_POLL_INTERVAL)


def _is_gone(process: int) -> bool:
    """Return whether a child has ended; then it is no longer a zombie."""
    try:
        return os.waitpid(process, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _strays(mark: str) -> Iterator[int]:
    """Yield the children of this process that have inherited the mark."""
    wanted = os.fsencode(f"{_MARK}={mark}")
    for task in os.listdir("/proc/self/task"):
        with suppress(OSError):  # the thread has ended, or the kernel has no such list
            for word in Path(f"/proc/self/task/{task}/children").read_text(encoding="ascii").split():
                with suppress(OSError):  # the process has ended, or is another user's
                    if wanted in Path(f"/proc/{word}/environ").read_bytes().split(b"\0"):
                        yield int(word)


class Repeatable(NamedTuple):
    """A program that can run again in other surroundings, and is the only one of its kind."""

    name: str
    start: Callable[[Way], Ended]
    way: Way
    works: Callable[[Ended], bool]

    def run(self) -> Ended:
        """Run the program as it is usually run, and return how it ends."""
        return self.start(self.way)

    def child_of(self, ended: Ended, files: Iterable[str]) -> Child:
        """Return the failed program as a child; it can run again if it has ended.

        files: the libraries and programs that it uses.
        """
        return Child(self.name, ended.seconds, None if ended.status is None else self._again, tuple(files))

    def _again(self, _names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        return [self.works(self.start(self.way._replace(surroundings=surroundings, seconds=seconds)))]


class _Pipe:
    """The text that comes through a pipe: its beginning is kept."""

    def __init__(self, descriptor: int, selector: selectors.BaseSelector) -> None:
        self._descriptor = descriptor
        self._selector = selector
        self._text = b""
        os.set_blocking(descriptor, False)
        selector.register(descriptor, selectors.EVENT_READ, self)

    def read(self) -> bool:
        """Read what is there. Return whether there may be more."""
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._text = (self._text + data)[:_OUTPUT_LIMIT]
        if not data:
            self._leave()
        return bool(data)

    def finish(self) -> str:
        """Read the rest. Return the text. The caller closes the descriptor."""
        for _ in range(_OUTPUT_LIMIT // _CHUNK + 1):
            if not self.read():
                break
        self._leave()
        return self._text.decode(errors="replace")

    def _leave(self) -> None:
        with suppress(KeyError):
            self._selector.unregister(self._descriptor)


class _Process:
    """A running program."""

    def __init__(self, index: int, command: Sequence[str], way: Way, selector: selectors.BaseSelector) -> None:
        self.index = index
        self._begun = monotonic()
        self._deadline = self._begun + way.seconds
        answers, given = os.pipe() if way.answers else (None, None)
        try:
            self._process = begin(
                [*command, str(given)] if given is not None else command,
                variables=way.variables,
                base=way.surroundings.variables,
                directory=way.surroundings.directory,
                stdin=subprocess.PIPE,  # at its end: /dev/null may be missing
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                kept=(given,) if given is not None else (),
                session=True,
            )
        except OSError:
            if answers is not None:
                os.close(answers)
            raise
        finally:
            if given is not None:
                os.close(given)
        cast("IO[bytes]", self._process.stdin).close()
        self._stdout = cast("IO[bytes]", self._process.stdout)
        self._output = _Pipe(self._stdout.fileno(), selector)
        self._answers = answers
        self._answer = _Pipe(answers, selector) if answers is not None else None
        # The limit is one byte: with a limit of 0 a program of core_pattern would still receive a core (core(5)).
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (1, 1))

    def is_over(self) -> bool:
        return self._process.poll() is not None or monotonic() > self._deadline

    def finish(self) -> Ended:
        """Kill the program's remaining processes, and return how it ended."""
        status = self._process.poll()
        seconds = monotonic() - self._begun
        output = self._output.finish()
        answer = self._answer.finish() if self._answer is not None else ""
        self._stdout.close()
        if self._answers is not None:
            os.close(self._answers)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)
        return Ended(status, output, answer=answer, seconds=seconds)
