"""The surroundings that a program gets from the process that starts it, and that may make it fail.

Variables, the directory, and soft limits: each is a `Suspect`. `Surroundings` says which of them a child has when it
runs again. `Child` is a program that failed.
"""

from __future__ import annotations

import os
import re
import resource
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from rocm_sdk.base.processes import PACKAGE_PARENT
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.base.value_text import quoted_for_shell

VARIABLE, ENTRY, DIRECTORY, LIMIT, UMASK = "variable", "entry", "directory", "limit", "umask"

# Variables of the linker, of Python, of ROCm, of compilers, and variables for temporary files and caches.
_VARIABLES = re.compile(
    r"(LD|PYTHON|HIP|HSA|ROCM|ROCR|AMD|GPU|LLVM|CLANG|CCC|HIPCC|COMGR|MIOPEN|MALLOC|OMP)_?.*"
    r"|GLIBC_TUNABLES|TMPDIR|TMP|TEMP|TEMPDIR|XDG_CACHE_HOME|CPATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|COMPILER_PATH|LIBRARY_PATH"
)
_USUAL_UMASK = 0o022
# Variables that say which SDK is tested, and where: without them, it would be another one.
_CHOOSING = frozenset(
    {"ROCM_SDK_ROOT", "ROCM_SDK_ROOTFS", "ROCM_SDK_FALLBACK", "ROCM_SDK_TARGET_FAMILY", "PYTHONNOUSERSITE"}
)
_LISTS = frozenset({"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "PYTHONPATH"})


class _Limit(NamedTuple):
    """A row of _LIMITS."""

    number: int  # of getrlimit(2)
    option: str  # of ulimit
    usual: float  # the amount that is enough for any program that we start
    what: str


# fmt: off
_LIMITS = {
    "RLIMIT_AS":     _Limit(resource.RLIMIT_AS,     "-v", float("inf"), "the address space"),
    "RLIMIT_DATA":   _Limit(resource.RLIMIT_DATA,   "-d", float("inf"), "the data segment"),
    "RLIMIT_FSIZE":  _Limit(resource.RLIMIT_FSIZE,  "-f", float("inf"), "the size of files"),
    "RLIMIT_NPROC":  _Limit(resource.RLIMIT_NPROC,  "-u", 1024,         "the number of processes"),
    "RLIMIT_NOFILE": _Limit(resource.RLIMIT_NOFILE, "-n", 1024,         "the number of open files"),
    "RLIMIT_STACK":  _Limit(resource.RLIMIT_STACK,  "-s", 8 << 20,      "the stack"),
}
# fmt: on


class Suspect(NamedTuple):
    """Something that may make a child fail."""

    kind: str
    name: str  # of the variable or of the limit
    value: str  # the variable's, the entry, the directory, the limit
    place: int = 0  # of an entry among the others

    @property
    def description(self) -> str:
        """The name of the suspect in a sentence."""
        if self.kind == DIRECTORY:
            return f"the current directory {self.value}"
        if self.kind == UMASK:
            return f"the umask {self.value}"
        if self.kind == LIMIT:
            return f"the soft limit of {_LIMITS[self.name].what} ({self.name} {self.value})"
        if self.kind == ENTRY:
            return f"{self.value} in {self.name}"
        return self.name

    @property
    def removal(self) -> str:
        """The shell command that removes the suspect."""
        if self.kind == DIRECTORY:
            return "cd /"
        if self.kind == UMASK:
            return f"umask {_USUAL_UMASK:04o}"
        if self.kind == LIMIT:
            return f"ulimit -S {_LIMITS[self.name].option} hard"
        if self.kind == ENTRY:
            return removal(self.name, lambda place, _: place == self.place)
        return f"unset {self.name}"


def suspects() -> tuple[Suspect, ...]:
    """Return the suspects of this process."""
    found = []
    for name, value in sorted(os.environ.items()):
        if name in _LISTS:
            entries = enumerate(_entries(name))
            found += [Suspect(ENTRY, name, entry, place) for place, entry in entries if not _is_needed(name, entry)]
        elif _VARIABLES.fullmatch(name) and name not in _CHOOSING:
            found.append(Suspect(VARIABLE, name, value))
    with suppress(OSError):
        found.append(Suspect(DIRECTORY, "", os.getcwd()))
    os.umask(umask := os.umask(_USUAL_UMASK))
    if umask & stat.S_IRWXU:  # a program cannot use its own files
        found.append(Suspect(UMASK, "umask", f"{umask:04o}"))
    for name, row in _LIMITS.items():
        soft, hard = resource.getrlimit(row.number)
        if (soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard)) and soft < row.usual:
            found.append(Suspect(LIMIT, name, str(soft)))
    return tuple(found)


def slowness() -> float:
    """Return how many programs want to run now per processor, at least 1: the factor for time limits."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0])
    except (OSError, IndexError, ValueError):
        return 1.0
    return max(1.0, running / len(os.sched_getaffinity(0)))


def hard_limits() -> Iterator[tuple[str, int, str]]:
    """Yield the limits that this process cannot raise: name, value, and the limited amount in words."""
    for name, row in _LIMITS.items():
        soft, hard = resource.getrlimit(row.number)
        if soft == hard != resource.RLIM_INFINITY and hard < row.usual:
            yield name, hard, row.what


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of this process without some suspects."""

    without: Collection[Suspect]

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment."""
        variables = dict(os.environ)
        for name in {each.name for each in self.without if each.kind == VARIABLE}:
            variables.pop(name, None)
        for name in {each.name for each in self.without if each.kind == ENTRY}:
            gone = {each.place for each in self.without if each.kind == ENTRY and each.name == name}
            entries = [entry for place, entry in enumerate(_entries(name)) if place not in gone]
            if entries:
                variables[name] = ":".join(entries)
            else:
                variables.pop(name, None)
        return variables

    @property
    def directory(self) -> str | None:
        """The current directory; None if it is this process's."""
        return "/" if any(each.kind == DIRECTORY for each in self.without) else None

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Yield with the limits of this process raised, and its umask set: its children get both."""
        umask = os.umask(_USUAL_UMASK) if any(each.kind == UMASK for each in self.without) else None
        before = {
            each.name: resource.getrlimit(_LIMITS[each.name].number) for each in self.without if each.kind == LIMIT
        }
        try:
            for name, (_, hard) in before.items():
                resource.setrlimit(_LIMITS[name].number, (hard, hard))
            yield
        finally:
            for name, both in before.items():
                resource.setrlimit(_LIMITS[name].number, both)
            if umask is not None:
                os.umask(umask)


OURS = Surroundings(())

# names, surroundings, seconds for each -> which of them work
Again = Callable[[Sequence[str], Surroundings, float], Sequence[bool]]


class Child(NamedTuple):
    """A program that failed, and how it runs again."""

    name: str
    seconds: float  # the time of its run
    again: Again | None  # None: it was stuck, and does not run again
    files: tuple[str, ...] = ()  # the libraries and programs that it has loaded or started
    title: str = ""  # the name in messages; "": the name


def removal(name: str, is_gone: Callable[[int, str], bool]) -> str:
    """Return the shell command that removes entries, by place and text, from a list, and keeps the others."""
    kept = [entry for place, entry in enumerate(_entries(name)) if not is_gone(place, entry)]
    return f"export {name}={quoted_for_shell(':'.join(kept))}" if kept else f"unset {name}"


def _entries(name: str) -> Sequence[str]:
    """Return the entries of a list as children get them: none depends on the current directory."""
    return entries_of(name, os.environ[name])


def _is_needed(name: str, entry: str) -> bool:
    """Return whether a child finds this package, or the SDK, only through this entry."""
    if name != "PYTHONPATH":
        return False
    from rocm_sdk.installed import sdk_sites

    here = os.path.realpath(entry)
    return here == os.path.realpath(PACKAGE_PARENT) or here in {os.path.realpath(each) for each in sdk_sites()}
