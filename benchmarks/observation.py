"""The observation of a measured process: its own clock, its time in dlopen, its system calls, its instructions."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

FILE_CALLS = "/^open|stat|^f?access|readlink|getdents"
STRACE_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((?:\d+<([^>]*)>)?")


class ProcessError(Exception):
    """The error of a process that failed: its command line and its output."""


class CannotMeasureError(Exception):
    """The error of a system that lacks a need of a row; the message is a sentence about the lack."""


@dataclass(frozen=True)
class Observation:
    """The output of one process and its measurements; times are in seconds."""

    facts: dict[str, list[list[str]]]
    inside_dlopen: float = 0.0
    file_calls: Counter[str] | None = None
    listed_directories: frozenset[str] = frozenset()

    @property
    def seconds(self) -> float:
        """The seconds of the interval that the process has measured by its own clock."""
        begin, end = self.facts["interval"][0]
        return (int(end) - int(begin)) / 1e9

    @property
    def outside_dlopen(self) -> float:
        """The seconds of the interval less the seconds inside dlopen."""
        return self.seconds - self.inside_dlopen

    @property
    def peak_growth(self) -> int:
        """The growth of the process's peak memory in bytes."""
        return int(self.facts["peak-growth"][0][0])

    @property
    def search_path_entries(self) -> int:
        """The number of entries of sys.path in the process."""
        return int(self.facts["search-path-entries"][0][0])

    @property
    def mapped_files(self) -> list[str]:
        """The absolute paths of the files that the process had mapped at its end; KeyError if it printed none."""
        return [path for (path,) in self.facts["mapped"]]


def observe(arguments: Sequence[str]) -> Observation:
    """Run a process undisturbed, whose own record of its time in dlopen counts."""
    facts = _facts(_run(arguments))
    inside = int(facts.get("inside-dlopen", [["0"]])[0][0])
    return Observation(facts, inside_dlopen=inside / 1e9)


def run_timed(arguments: Sequence[str], statuses: Collection[int] = (0,), **environment: str) -> float:
    """Return the seconds from the start of a process to its end, as its starter sees them.

    `statuses` are the exit statuses that the process may have.
    """
    begin = perf_counter()
    complete(arguments, statuses, **environment)
    return perf_counter() - begin


def observe_dlopen(arguments: Sequence[str], clock: Path) -> Observation:
    """Run a process in which each dlopen is timed."""
    record = clock.with_suffix(".txt")
    facts = _facts(_run(arguments, LD_PRELOAD=str(clock), DLOPEN_CLOCK=str(record)))
    begin, end = (int(value) for value in facts["interval"][0])
    inside = 0
    for line in record.read_text(encoding="utf-8").splitlines():
        opened, done = (int(value) for value in line.split(" ")[:2])
        inside += done - opened if begin <= opened <= end else 0
    return Observation(facts, inside_dlopen=inside / 1e9)


def observe_file_calls(arguments: Sequence[str], record: Path) -> Observation:
    """Run a process under strace and count its calls that look for, open or list files."""
    output = _run(
        ["strace", "-f", "-y", "-qq", "-o", str(record), "-e", f"trace={FILE_CALLS}", *arguments],
        ROCM_SDK_READ_AHEAD="0",
    )
    calls, listed = Counter[str](), set()
    for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
        match = STRACE_LINE.match(line)
        if match:
            calls[match[1]] += 1
            if match[1].startswith("getdents"):
                listed.add(match[2])
    return Observation(_facts(output), file_calls=calls, listed_directories=frozenset(listed))


# Under valgrind the first reads of a file take so long that threads read ahead, and malloc takes locks from then on.
WARM = {"ROCM_SDK_READ_AHEAD": "0"}


@functools.cache
def instruction_counter() -> tuple[str, Callable[[Sequence[str]], int]] | None:
    """Return the program that counts instructions here, and the function; None if neither perf nor valgrind can."""
    if shutil.which("perf"):
        try:
            _count_by_perf([sys.executable, "-c", ""])
        except (LookupError, ProcessError):
            pass
        else:
            return "perf stat", _count_by_perf
    return ("callgrind", _count_by_callgrind) if shutil.which("valgrind") else None


def _count_by_perf(arguments: Sequence[str]) -> int:
    """Return the instructions that perf counts.

    Raise LookupError where the processor's counters cannot be read, as in most virtual machines.
    """
    result = complete(["perf", "stat", "-x", ",", "-e", "instructions:u", "--", *arguments], (0,), **WARM)
    match = re.search(r"^(\d+),", result.stderr, re.MULTILINE)
    if match is None:
        raise LookupError(result.stderr)
    return int(match[1])


def _count_by_callgrind(arguments: Sequence[str]) -> int:
    result = complete(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *arguments], (0,), **WARM)
    match = re.search(r"Collected : (\d+)", result.stderr)
    if match is None:
        raise LookupError(result.stderr)
    return int(match[1])


def complete(
    arguments: Sequence[str], statuses: Collection[int] = (0,), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a process in an environment of few variables; return its result.

    Raise ProcessError if the process ends with another status.
    """
    # Without hash randomisation two runs of the same program take the same path through Python's dictionaries.
    settings = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", **environment}
    result = subprocess.run(
        arguments, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if result.returncode not in statuses:
        raise ProcessError(f"{shlex.join(arguments)}: exit status {result.returncode}\n{result.stderr.strip()}")
    return result


def _run(arguments: Sequence[str], **environment: str) -> str:
    return complete(arguments, (0,), **environment).stdout


def _facts(output: str) -> dict[str, list[list[str]]]:
    facts: dict[str, list[list[str]]] = {}
    for line in output.splitlines():
        name, *values = line.split("\t")
        facts.setdefault(name, []).append(values)
    return facts
