"""Loads libraries with the program load_check, each in a process of its own, several at a time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load_check")
_OUTPUT_LIMIT = 2048  # bytes of a library's output
_FIELDS = 6
_CHUNK = 1 << 16  # bytes


class LoadResult(NamedTuple):
    """The result of loading one library."""

    path: str
    outcome: str  # "loaded", "refused", "killed", "ended", "stuck"
    number: int  # of the signal, or the exit status
    seconds: float
    dlerror_text: str
    output: str  # what the library printed


def load_all(
    paths: Iterable[str], seconds: int, parallel: int, library_path: str | None = None
) -> Iterator[LoadResult]:
    """Loads each path alone with RTLD_NOW; yields results as they come.

    seconds: the time limit of each. library_path: LD_LIBRARY_PATH of the processes; None: unchanged. Raises OSError if
    the program does not start, and RuntimeError with its message if it fails.
    """
    wanted = list(paths)
    if not wanted:
        return
    environment = {**os.environ, **({"LD_LIBRARY_PATH": library_path} if library_path is not None else {})}
    process = subprocess.Popen(
        [PROGRAM, str(parallel), str(seconds), str(_OUTPUT_LIMIT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(b"".join(os.fsencode(path) + b"\0" for path in wanted))
        process.stdin.close()
        output = process.stdout.fileno()
        for fields in _records(iter(lambda: os.read(output, _CHUNK), b"")):
            yield _result(wanted, fields)
        message = process.stderr.read().decode(errors="replace").strip()
    finally:
        process.terminate()  # it kills its children and their descendants first
        process.stdout.close()
        process.stderr.close()
        process.wait()
    if message:
        raise RuntimeError(message)


def _records(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = b""
    for chunk in chunks:
        *fields, rest = (rest + chunk).split(b"\0")
        while len(fields) >= _FIELDS:
            yield fields[:_FIELDS]
            fields = fields[_FIELDS:]
        rest = b"\0".join([*fields, rest])


def _result(paths: list[str], fields: list[bytes]) -> LoadResult:
    index, outcome, number, microseconds, dlerror_text, output = (field.decode(errors="replace") for field in fields)
    return LoadResult(paths[int(index)], outcome, int(number), int(microseconds) / 1e6, dlerror_text, output.strip())


def default_parallel() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
