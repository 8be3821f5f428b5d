"""A running process: which ROCm libraries are in it, twice perhaps, from where, and what brought them in."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.files import open_file
from rocm_sdk.problems import Problem, problem
from rocm_sdk.selftest.installation import Installation, current

# Libraries of which a process must have one copy, whatever their version.
_SINGLE = re.compile(
    r"lib(amdhip64|hsa-runtime64|amd_comgr|LLVM|amd_smi|rocm_smi64|rocprofiler-sdk|hiprtc)(?:-\d\w*)?\.so(?:\.\w+)*"
)
_DELETED = " (deleted)"


class MappedFile(NamedTuple):
    """A file that is mapped into a process."""

    path: str
    identity: tuple[str, str]  # device and inode, as maps has them
    is_deleted: bool


def check_process(installation: Installation, pid: int) -> list[Problem]:
    """What is wrong with a process; a process that cannot be looked at is a problem too."""
    try:
        mapped = list(_mapped_files(pid))
        variables = _environment_of(pid)
    except OSError as error:
        return [problem("E-PROC-004", error.filename, pid=pid, detail=str(error.strerror))]
    origins = Origins(mapped, variables)
    return [*_twice(mapped, origins), *_foreign(installation, mapped, origins), *_deleted(installation, mapped)]


def check_running_process(pid: int | None = None) -> tuple[Problem, ...]:
    """The same for the installation that this process uses; `pid`: by default this process."""
    return tuple(check_process(current(), os.getpid() if pid is None else pid))


def _mapped_files(pid: int) -> Iterator[MappedFile]:
    seen = set()
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/") and (fields[3], fields[4], fields[5]) not in seen:
                seen.add((fields[3], fields[4], fields[5]))
                path = fields[5].removesuffix(_DELETED)
                yield MappedFile(path, (fields[3], fields[4]), path != fields[5])


def _environment_of(pid: int) -> dict[str, str]:
    """Its environment when it was started; empty where we may not see it."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            text = file.read().decode(errors="replace")
    except PermissionError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _twice(mapped: list[MappedFile], origins: Origins) -> Iterator[Problem]:
    by_stem: dict[str, dict[tuple[str, str], str]] = {}
    for each in mapped:
        match = _SINGLE.fullmatch(os.path.basename(each.path))
        if match and not each.is_deleted:
            by_stem.setdefault(match[1], {}).setdefault(each.identity, each.path)
    for stem, copies in by_stem.items():
        first, *others = copies.values()
        for other in others:
            if stem != "LLVM" or _may_collide(first, other):
                source, other_source = origins.of(first), origins.of(other)
                facts = {"source": source, "other": other, "other_source": other_source}
                yield problem("E-PROC-001", first, stem=f"lib{stem}", variable=_variable(source, other_source), **facts)


def _may_collide(path: str, other: str) -> bool:
    """Whether two LLVMs have symbols of one version: LLVM_17.0 and LLVM_18.1 live side by side."""
    versions, other_versions = _symbol_versions(path), _symbol_versions(other)
    return not versions or not other_versions or not versions.isdisjoint(other_versions)


def _symbol_versions(path: str) -> set[bytes]:
    """The names of LLVM's symbol versions, which are among the strings of the file."""
    try:
        with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return set(re.findall(rb"\0(LLVM_[\d.]+)(?=\0)", content))
    except (OSError, ValueError):
        return set()


def _variable(*sources: str) -> str:
    return next((source for source in sources if source.startswith("LD_")), "what loads it")


def _foreign(installation: Installation, mapped: list[MappedFile], origins: Origins) -> Iterator[Problem]:
    """ROCm libraries from outside, in a process that has the SDK's too."""
    rocm = [each for each in mapped if _SINGLE.fullmatch(os.path.basename(each.path))]
    inside = [each for each in rocm if installation.has(each.path)]
    for path in dict.fromkeys(each.path for each in rocm if each not in inside) if inside else ():
        source = origins.of(path)
        facts = {"source": source, "site": installation.site, "variable": _variable(source)}
        yield problem("W-PROC-002", path, **facts)


def _deleted(installation: Installation, mapped: list[MappedFile]) -> Iterator[Problem]:
    for path in sorted({each.path for each in mapped if each.is_deleted}):
        if installation.has(path):
            yield problem("E-PROC-003", path)


class Origins:
    """What brought each file of a process in."""

    def __init__(self, mapped: list[MappedFile], variables: dict[str, str]) -> None:
        self._preloaded = re.split(r"[:\s]+", variables.get("LD_PRELOAD", ""))
        entries = variables.get("LD_LIBRARY_PATH", "").split(":")
        self._directories = {os.path.realpath(entry) for entry in entries if entry}
        self._mapped = list(dict.fromkeys(each.path for each in mapped if not each.is_deleted))

    def of(self, path: str) -> str:
        """The variable that names it or its directory, the library whose RPATH leads to it, the system, or its path."""
        if any(os.path.realpath(name) == path for name in self._preloaded if name):
            return "LD_PRELOAD"
        needing = self._by_search_path.get(os.path.dirname(path), [])
        rpaths = [f"the RPATH of {name}" for name, wanted in needing if os.path.basename(path) in wanted]
        if os.path.dirname(path) in self._directories:
            return "LD_LIBRARY_PATH"
        if rpaths:
            return rpaths[0]
        if path.startswith(("/usr/lib", "/lib")):
            return "the system's directories"
        return "its path"

    @cached_property
    def _by_search_path(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Directory -> the names of the libraries whose RPATH or RUNPATH has it, and what they need."""
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for path in self._mapped:
            try:
                facts = _native.inspect_library(path)
            except RocmSdkError:
                continue
            for entry in (facts.runpath or facts.rpath or "").split(":"):
                place = re.sub(r"\$(ORIGIN|\{ORIGIN\})", os.path.dirname(path), entry)
                if entry:
                    found.setdefault(os.path.realpath(place), []).append((os.path.basename(path), facts.needed))
        return found
