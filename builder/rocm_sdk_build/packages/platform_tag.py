"""The platform tag of a wheel: the oldest manylinux policy that promises all needs of the wheel's files.

The policies are a table, `manylinux.txt`.
"""

from __future__ import annotations

import functools
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.file_kind import Kind, look_at
from rocm_sdk_build.inputs.globs import matches

_log = logging.getLogger(__name__)
ANY = "any"  # the tag of files that need nothing of a system
_TABLE = Path(__file__).with_name("manylinux.txt")
_MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine
_TAG = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_LINKER = re.compile(r"ld-linux.*\.so\.\d+")
_GLIBC = re.compile(r"manylinux_(\d+_\d+)_")
_NUMBERED = re.compile(r"([A-Z]+)_([0-9.]+)")


class Policy(NamedTuple):
    """The libraries' versions that a system of a policy has."""

    machine: str
    tag: str
    newest: dict[str, tuple[int, ...]]  # "GLIBC" -> (2, 17)
    others: frozenset[str]  # versions without a number

    def has(self, version: str) -> bool:
        """Return whether a system has a symbol version ("GLIBC_2.34"); prefixes that `newest` lacks have no limit."""
        numbered = _NUMBERED.fullmatch(version)
        if numbered is None:
            return version in self.others
        return numbered[1] not in self.newest or _number(numbered[2]) <= self.newest[numbered[1]]


class Names(NamedTuple):
    """The names of libraries that the SDK has."""

    exact: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether the SDK has a library of this name, by an exact name or a glob pattern."""
        return name in self.exact or any(matches(name, pattern) for pattern in self.patterns)


class Needs(NamedTuple):
    """The needs of a wheel's files, which a system must meet."""

    machines: frozenset[str]
    versions: frozenset[str]  # "GLIBC_2.34"
    missing: dict[str, Path]  # libraries that no policy promises -> the first file that needs it


def checked_tag(text: str | None) -> str | None:
    """Return the tag that the user wants, by option or ROCM_SDK_WHEEL_PLATFORM_TAG, or None.

    Raise PackagingError if the tag is invalid.
    """
    wanted = text or os.environ.get("ROCM_SDK_WHEEL_PLATFORM_TAG")
    if not wanted:
        return None
    tag = wanted.replace("-", "_")
    if not _TAG.fullmatch(tag):
        raise PackagingError(f"{wanted!r} is not a platform tag", "one like manylinux_2_28_x86_64, linux_x86_64")
    return tag


def tag_of(name: str, needs: Needs, usual: str = ANY) -> str:
    """Return the platform tag of the wheel `name`.

    `usual` is the tag of wheels without programs and libraries. A library that no policy promises, and the SDK does not
    have, is a warning: the wheel is for the systems that happen to have it. Raise PackagingError if the wheel has
    programs for several processors.
    """
    if not needs.machines:
        return usual
    if len(needs.machines) > 1:
        raise PackagingError(f"{name}: has programs for several processors: {', '.join(sorted(needs.machines))}")
    (machine,) = needs.machines
    for library, path in sorted(needs.missing.items()):
        _log.warning(
            "%s: %s needs %s, which neither the SDK nor every system has (--platform-tag tells what it is for)",
            *(name, path, library),
        )
    return _tag(machine, needs)


def broken_promise(tag: str, needs: Needs) -> str:
    """Return the need of files that the platform tag of their wheel does not promise, for messages.

    Return "" if the tag promises all needs.
    """
    if not needs.machines:
        return ""
    machine = min(needs.machines)
    if len(needs.machines) > 1 or not tag.endswith(f"_{machine}"):
        return f"has programs or libraries for {' and '.join(sorted(needs.machines))}, and the tag {tag}"
    promised = [_number(found.replace("_", ".")) for found in _GLIBC.findall(tag)]
    if not promised:
        return ""
    for library, path in sorted(needs.missing.items()):
        return f"has {path.name}, which needs {library}: no package here has it, nor do all systems of {tag}"
    needed = _GLIBC.match(_tag(machine, needs))
    if needed is None or _number(needed[1].replace("_", ".")) > max(promised):
        return f"has files that need a newer system than {tag} promises: {', '.join(sorted(needs.versions))}"
    return ""


def usual_tag(needs: Needs) -> str:
    """Return the platform tag of a development tree without programs and libraries.

    `needs` are the needs of core's files.
    """
    return _tag(min(needs.machines), needs) if needs.machines else ANY


def oldest_tag(files: Iterable[Path]) -> str:
    """Return the platform tag of files that need nothing of a system.

    The tag is for the processor of the first program or library among `files`. Device packages have no program or
    library. The place and content of their code depend on the system for which they are made.
    """
    for path in files:
        if (facts := look_at(path)).kind is not Kind.DATA:
            machine = _name(facts.machine)
            return _tag(machine, Needs(frozenset((machine,)), frozenset(), {}))
    return ANY


def _tag(machine: str, needs: Needs) -> str:
    if not needs.missing:
        for policy in policies():
            if policy.machine == machine and all(map(policy.has, needs.versions)):
                return policy.tag
    return f"linux_{machine}"


def needs_of(files: Iterable[Path], others: Names) -> Needs:
    """Return the needs of files; `others` are the libraries of other wheels."""
    machines: set[str] = set()
    versions: set[str] = set()
    missing: dict[str, Path] = {}
    kinds = [(path, facts) for path in files if (facts := look_at(path)).kind is not Kind.DATA]
    own = others._replace(
        exact=others.exact.union(name for path, facts in kinds for name in (facts.soname, path.name) if name)
    )
    for path, facts in kinds:
        machines.add(_name(facts.machine))
        if facts.kind is Kind.STATIC:
            continue
        try:
            found = inspect_library(path)
        except RocmSdkError:  # a program of a form that the inspection does not support
            continue
        versions |= {version for library, version in found.version_needs if not own.has(library)}
        for library in found.needed:
            if library not in libraries() and not _LINKER.fullmatch(library) and not own.has(library):
                missing.setdefault(library, path)
    return Needs(frozenset(machines), frozenset(versions), missing)


def machine_of(path: Path) -> str | None:
    """Return the processor of a program or library, or None for other files."""
    facts = look_at(path)
    return None if facts.kind is Kind.DATA else _name(facts.machine)


def _name(machine: int) -> str:
    return _MACHINES.get(machine, f"processor{machine}")


@functools.cache
def policies() -> tuple[Policy, ...]:
    """Return the policies, the oldest first."""
    found = []
    for machine, glibc, *versions in _rows("policy"):
        numbered = [match for match in map(_NUMBERED.fullmatch, versions) if match is not None]
        newest = {match[1]: _number(match[2]) for match in numbered}
        others = frozenset(versions) - {match[0] for match in numbered}
        found.append(Policy(machine, f"manylinux_{glibc.replace('.', '_')}_{machine}", newest, others))
    return tuple(found)


@functools.cache
def libraries() -> frozenset[str]:
    """Return the libraries that every policy promises."""
    return frozenset(name for (name,) in _rows("library"))


def _rows(kind: str) -> list[list[str]]:
    lines = (line.split() for line in _TABLE.read_text(encoding="utf-8").splitlines())
    return [words[1:] for words in lines if words and words[0] == kind]


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part)
