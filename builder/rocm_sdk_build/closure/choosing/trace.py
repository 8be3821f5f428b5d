"""The files of the SDK that a run of the application uses: strace shows which it maps, starts, opens, looks for.

The application runs in the environment of the user, with the whole SDK. Libraries count if they are mapped: the loader
reads the headers of many that it does not load. Formats: strace(1), versions 5.3 and later.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base import processes
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkFile
from rocm_sdk_build.inputs.file_kind import Kind

_CALLS = "%file,mmap"
_LINE = re.compile(r"(\d+)\s+(?:<\.\.\. \w+ resumed>(?P<rest>.*)|(?P<call>[a-z]\w*\(.*))", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
_RESULT = re.compile(r"\)\s+=\s+(-?\d+|0x[0-9a-f]+)(?:<(.*)>)?[^)]*$", re.DOTALL)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DIRECTORY = re.compile(r"\((?:AT_FDCWD|\d+)<([^>]*)>, $")
_MAPPED = re.compile(r"mmap\(.*, \d+<([^>]*)>, [^,]*$", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}


class Use(NamedTuple):
    """A successful call that names a file."""

    path: str
    call: str


def trace(sdk: InstalledSdk, command: Sequence[str], scratch: Path) -> dict[str, str]:
    """Run a command; return in words how it uses each file of the SDK that it uses, by the path of the file.

    The output of the command goes to standard error. Raise PackagingError if the command cannot be traced, or fails:
    files that a broken run does not reach would be left out.
    """
    log = scratch / "trace"
    _run(command, log)
    with log.open(encoding="utf-8", errors="surrogateescape") as lines:
        return used_files(sdk, uses(lines))


def used_files(sdk: InstalledSdk, found: Iterable[Use]) -> dict[str, str]:
    """Return the files of the SDK among the files that calls name, with how each is used.

    Links to a file stay with it.
    """
    known: dict[str, SdkFile | None] = {}
    result: dict[str, str] = {}
    for use in found:
        if use.path not in known:
            known[use.path] = sdk.by_source.get(os.path.realpath(use.path))
        file = known[use.path]
        if file is not None and (use.call == "mmap" or sdk.facts(file).kind is not Kind.LIBRARY):
            result.setdefault(file.path, _WORDS.get(use.call, "opened"))
    return result


_WORDS = {
    "mmap": "mapped",
    "execve": "started",
    "execveat": "started",
    **dict.fromkeys(("stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"), "looked for"),
}


def uses(lines: Iterable[str]) -> Iterator[Use]:
    """Yield the successful calls of strace's lines.

    Calls of several processes are mixed, and may be cut in two.
    """
    begun: dict[str, str] = {}
    for line in lines:
        match = _LINE.match(line.rstrip("\n"))
        if match is None:
            continue
        text = begun.pop(match[1], "") + match["rest"] if match["call"] is None else match["call"]
        if text.endswith(_UNFINISHED):
            begun[match[1]] = text.removesuffix(_UNFINISHED)
            continue
        yield from _uses_of(text)


def _uses_of(text: str) -> Iterator[Use]:
    call = text.partition("(")[0]
    result = _RESULT.search(text)
    if result is None or result[1].startswith("-"):
        return
    if call == "mmap":
        if (mapped := _MAPPED.match(text[: result.start()])) is not None:
            yield Use(_plain(mapped[1]), call)
        return
    if (name := _TEXT.search(text)) is not None:
        directory = _DIRECTORY.search(text[: name.start()])
        path = _plain(name[1])
        yield Use(os.path.join(_plain(directory[1]), path) if directory is not None else path, call)
    if result[2] is not None:
        yield Use(_plain(result[2]), call)


def _plain(text: str) -> str:
    """Return a text without strace's escapes, which stand for bytes."""
    if "\\" not in text:
        return text

    def of_one(match: re.Match[str]) -> str:
        if match[3] is not None:
            return _LETTERS.get(match[3], match[3])
        return chr(int(match[1], 8) & 0xFF) if match[1] is not None else chr(int(match[2], 16))

    data = _ESCAPE.sub(of_one, text.encode("utf-8", "surrogateescape").decode("latin-1"))
    return os.fsdecode(data.encode("latin-1"))


def _run(command: Sequence[str], log: Path) -> None:
    program = processes.find_program("strace")
    if program is None:
        raise PackagingError("strace: not found", "install it: apt-get install strace, dnf install strace")
    if processes.find_program(command[0]) is None:
        if "/" in command[0] and os.path.lexists(command[0]):
            raise PackagingError(
                f"--trace: {command[0]}: is not a program that this user may start", "name a program after --"
            )
        raise WrongUsageError(f"--trace: {command[0] or repr('')}: not found", "name a program behind --")
    options = ["-f", "--seccomp-bpf", "-y", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-o", str(log)]
    status = processes.run_shown([program, *options, "--", *command], output=sys.stderr)
    if not log.exists() or not log.stat().st_size:
        raise PackagingError(
            "strace cannot trace programs here; what it says is above",
            "in a container, allow ptrace: --cap-add SYS_PTRACE",
        )
    if status:
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        raise PackagingError(
            f"--trace: {command[0]} ends with {ended}: what it did not reach would be left out", "make it run first"
        )
