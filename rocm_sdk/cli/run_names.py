"""The names without a version for the program of `rocm-sdk run`: links in a private directory.

The packages have no such files, and `dlopen("libamd_smi.so")` searches LD_LIBRARY_PATH. Since the program replaces this
process, a separate process makes the directory, and removes it when the program ends, however it ends. If that process
is killed, the next run removes the directory. A link leads the linker to the file, which stays one library under both
names. The linker takes $ORIGIN for the directory of the link, so the directories around the file get links, too.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.own_place import FURTHER_PLACES, private_directory, refusal
from rocm_sdk.terminal.output import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

PREFIX = "rocm-sdk-run-"
_DESCRIPTORS = 1 << 16  # at most this many are closed if the system does not list the open ones
_SECONDS_BETWEEN = 0.5  # between two looks at a program, if the kernel cannot report its end
_NO_PLACE, _FAILED = b"!", b"?"  # the first byte of an answer that is not a list of directories; the reason follows


def give_names(names: Mapping[str, str], packages: Sequence[str]) -> list[str]:
    """Return the directories of links for the program that this process becomes.

    names: linker name -> file. packages: the directories of the SDK's packages. If no directory can be made, the
    function complains, and returns [].
    """
    if not names:
        return []
    places, refused = _places()
    answer = _ask_keeper(names, packages, places) if places else _NO_PLACE
    if not answer.startswith((_NO_PLACE, _FAILED)):
        return [os.fsdecode(each) for each in answer.split(b"\0")]
    is_of_places = answer.startswith(_NO_PLACE)
    why = [*(refused if is_of_places else ()), *filter(None, [os.fsdecode(answer[1:])])]
    complain(
        f"the program does not find {', '.join(sorted(names))}: no directory for links to the files can be made"
        f" ({'; '.join(why)})",
        private_directory() if is_of_places else None,
    )
    return []


# ---- where


def _places() -> tuple[list[str], list[str]]:
    """Return the directories in which nobody else can replace this user's files, and why others are not suitable."""
    named = (os.environ.get(name) for name in ("TMPDIR", "XDG_RUNTIME_DIR"))
    places, refused = [], []
    for place in dict.fromkeys([*filter(None, named), *FURTHER_PLACES]):
        why = _refusal(place)
        if why is None:
            places.append(os.path.realpath(place))
        elif place not in FURTHER_PLACES:
            refused.append(f"{place}: {why}")
    return places, refused


def _refusal(place: str) -> str | None:
    """Return why links cannot be in a directory; None if they can."""
    if {":", ";"} & set(os.path.realpath(place)):
        return "LD_LIBRARY_PATH cannot have a path with a colon or semicolon"
    return refusal(place)


# ---- the links


def _link(directory: str, names: Mapping[str, str], packages: Sequence[str]) -> list[str]:
    """Make the links below a new directory. Return the directories that have the names."""
    found: dict[str, str] = {}
    for name, path in sorted(names.items()):
        origin = os.path.dirname(path)
        if origin not in found:
            package = next((each for each in packages if f"{origin}/".startswith(f"{each}/")), origin)
            found[origin] = _mirror(directory, package, os.path.relpath(origin, package))
        os.symlink(path, os.path.join(found[origin], name))
    for package in packages:  # RPATHs lead from one package to another
        with suppress(FileExistsError):
            os.symlink(package, os.path.join(directory, os.path.basename(package)))
    return list(found.values())


def _mirror(directory: str, package: str, relative: str) -> str:
    """Make a directory that stands for one of a package, and return its path.

    Relative to the directories around it, it has the same path as the original.
    """
    place, real = os.path.join(directory, os.path.basename(package)), package
    words = [] if relative == "." else relative.split("/")
    for word in [*words, None]:
        with suppress(FileExistsError):
            os.mkdir(place, 0o700)
        for entry in os.scandir(real):
            if entry.name != word and entry.is_dir():
                with suppress(FileExistsError):  # made for another library
                    os.symlink(entry.path, os.path.join(place, entry.name))
        if word is not None:
            place, real = os.path.join(place, word), os.path.join(real, word)
            if os.path.islink(place):  # another library lies above it
                os.unlink(place)
    return place


# ---- the process that keeps them


class _Keeper(NamedTuple):
    """The process that keeps the links.

    names, packages, places: what is linked, and where. pid: the process that the links are for. ended: a descriptor
    that signals the end of that process; -1: the kernel has none.
    """

    names: Mapping[str, str]
    packages: Sequence[str]
    places: Sequence[str]
    pid: int
    ended: int

    def keep(self, writer: int) -> None:
        """Make the directory in the first place that allows it, tell the program's process, and wait for its end."""
        why = []
        for place in self.places:
            refusal = self._keep_in(place, writer)
            if refusal is None:
                return
            why.append(f"{place}: {refusal}")
        os.write(writer, _NO_PLACE + os.fsencode("; ".join(why)))

    def _keep_in(self, place: str, writer: int) -> str | None:
        from pathlib import Path

        from rocm_sdk.base.scratch import removed_at_signals, scratch_directory

        try:
            with removed_at_signals(), scratch_directory(Path(place), PREFIX) as directory:
                made = _link(str(directory), self.names, self.packages)
                os.write(writer, b"\0".join(map(os.fsencode, made)))
                os.close(writer)
                self._wait()
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE}:
                raise
            return error.strerror
        return None

    def _wait(self) -> None:
        """Wait until the program has ended."""
        if self.ended >= 0:
            from select import poll

            waiting = poll()
            waiting.register(self.ended)
            waiting.poll()
            return
        from time import sleep

        start = _start_of(self.pid)
        while start is not None and _start_of(self.pid) == start:
            sleep(_SECONDS_BETWEEN)


def _ask_keeper(names: Mapping[str, str], packages: Sequence[str], places: Sequence[str]) -> bytes:
    """Start the keeper. Return the directories that it has made, or why there are none."""
    try:
        reader, writer = os.pipe()
    except OSError as error:
        return _FAILED + os.fsencode(str(error.strerror))
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        ended = os.pidfd_open(os.getpid())
    except (AttributeError, OSError) as error:  # Linux before 5.3, or a filter of system calls
        ended = -1
        if _start_of(os.getpid()) is None:
            os.close(reader)
            os.close(writer)
            return _FAILED + os.fsencode(
                f"nothing tells when the program ends: {getattr(error, 'strerror', 'no /proc')}"
            )
    keeper = _Keeper(names, packages, places, os.getpid(), ended)
    try:
        child = os.fork()
    except OSError as error:
        os.close(writer)
        return _FAILED + os.fsencode(f"no process can be started: {error.strerror}")
    else:
        if child == 0:
            _become(keeper, writer)
        os.close(writer)
        os.waitpid(child, 0)  # the keeper is not a child of the program
        with open(reader, "rb", closefd=False) as file:
            return file.read() or _FAILED + b"the process that makes it was killed"
    finally:
        os.close(reader)
        if ended >= 0:
            os.close(ended)


def _become(keeper: _Keeper, writer: int) -> NoReturn:
    """Become the keeper in a separate session, where signals of the terminal do not reach it."""
    try:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            _close_others({writer, keeper.ended})
            keeper.keep(writer)
    except OSError as error:
        os.write(writer, _FAILED + os.fsencode(f"no process can keep them: {error.strerror}"))
    finally:
        os._exit(0)


def _close_others(kept: set[int]) -> None:
    """Close the files that the command's caller waits for: pipes for its output."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:  # no /proc
        numbers = list(range(min(os.sysconf("SC_OPEN_MAX"), _DESCRIPTORS)))
    for number in set(numbers) - kept:
        with suppress(OSError):
            os.close(number)
    null, writer = os.pipe()  # a pipe that stays empty, since there may be no /dev/null
    os.close(writer)
    for number in {0, 1, 2} - {*kept, null}:
        os.dup2(null, number)


def _start_of(pid: int) -> str | None:
    """Return when a process started, which tells it from a later one with the same number; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
