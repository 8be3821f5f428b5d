"""The libraries that are nowhere, one problem for each cause: a package of AMD's, or one of the system."""

from __future__ import annotations

import os
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.errors import PackageNotInstalledError
from rocm_sdk.installed.catalog import stem
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocm_sdk._native import HostFile, Unfound
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem

    from .subject import Subject

HERE = frozenset({"bundled", "SDK", "RPATH", "system"})  # places of needs
_OWN_COPY = "librocm_sysdeps_"  # of a library of the system, in AMD's core package


class Against(NamedTuple):
    """The SDK that files are checked against: its shared libraries (() without one), its version, its packages."""

    libraries: tuple[str, ...]
    version: str | None = None
    installed: Installed | None = None  # None: a directory


def package_of(name: str) -> str | None:
    """Return the package of the SDK ("core", "libraries") that has a library of this name.

    The result is None if it is not the SDK's.
    """
    if name.startswith(_OWN_COPY):
        return "core"
    return next((row[1] for row in _native.catalog() if stem(row[2]) == stem(name)), None)


def missing_problems(subject: Subject, files: Iterable[HostFile], against: Against) -> Iterator[Problem]:
    """Yield a problem for each library that the linker does not find.

    A library that a required distribution may bring, which is not here, is no problem.
    """
    unfound: dict[str, Unfound] = {}  # the first of each name
    for each in (each for file in files for each in file.unfound):
        unfound.setdefault(each.name, each)
    needing: dict[str, str] = {}  # library -> the first file that needs it
    for name, each in unfound.items():
        if each.fault is not None:
            yield _refused(subject, each)
        elif each.place in HERE:
            yield _unreached(subject, each)
        elif each.place == "nowhere":
            needing[name] = each.needing
    yield from _nowhere(subject, needing, against)


def _nowhere(subject: Subject, needing: Mapping[str, str], against: Against) -> Iterator[Problem]:
    """Yield the problems of libraries that nothing here has, by the packages that should have them."""
    of_rocm = {name: package for name in needing if (package := package_of(name)) is not None}
    if of_rocm and against.libraries:
        yield _of_rocm(subject, needing, of_rocm, against)
    unknown: list[str] = []
    may_be_of_others = len(of_rocm) < len(needing) and _may_be_of_others(subject)
    for name, path in needing.items():
        facts = _native.missing_library(name)[2]
        if name in of_rocm:
            continue
        if not _is_known(facts) and "." not in name.partition(".so")[2]:
            unknown.append(name)  # no package of a system has it: it has no number
        elif _is_known(facts) or not may_be_of_others:
            shown = subject.shown(path)
            yield problem("E-LIB-002", shown, needing=os.path.basename(shown), library=name, **facts)
    if unknown and not may_be_of_others:
        yield _of_python(subject, needing, unknown)


def _unreached(subject: Subject, each: Unfound) -> Problem:
    """Return the problem of a library that is there, and that the linker does not look for there, or by that name."""
    needing, path = subject.shown(each.needing), each.path or ""
    facts = {"needing": os.path.basename(needing), "name": each.name, "present": subject.shown(path)}
    if os.path.basename(path) != each.name:
        facts["why"] = f"which has {each.name} for its SONAME: the linker looks for files by their names"
    if subject.kind in ("file", "directory"):
        facts |= _repair_of_unreached(each, path)
    return problem("E-LIB-004", needing, library=needing, **facts)


def _repair_of_unreached(each: Unfound, path: str) -> dict[str, str]:
    """Return the facts for the command that lets the linker find a library."""
    directory, name = os.path.split(os.path.abspath(path))
    if name != each.name:
        return {"target": name, "link": os.path.join(directory, each.name)}
    way = os.path.relpath(directory, os.path.dirname(os.path.abspath(each.needing)))
    return {"rpath": "$ORIGIN" if way == "." else f"$ORIGIN/{way}", "file": each.needing}


def _refused(subject: Subject, each: Unfound) -> Problem:
    needing = subject.shown(each.needing)
    detail = f"{os.path.basename(needing)} needs it: {subject.shown(each.fault or '')}"
    return problem(each.fault_code or "E-LIB-006", needing, library=each.name, detail=detail)


def _may_be_of_others(subject: Subject) -> bool:
    """Return whether a distribution that a subject requires, and that is not installed, may bring what it needs."""
    if subject.kind == "SDK" or not subject.needed_too:
        return False
    from rocm_sdk.installed.other_distributions import find  # here: its imports take long

    return any(find(name) is None for name in subject.needed_too)


def _of_python(subject: Subject, needing: Mapping[str, str], names: list[str]) -> Problem:
    """Return the problem of libraries whose names have no number, as libraries of Python packages such as torch."""
    shown = subject.shown(needing[names[0]])
    facts = {"needing": os.path.basename(shown), "name": ", ".join(names), "library": names[0]}
    return problem("E-LIB-002", shown, None, detail="libraries without a number belong to a package of Python", **facts)


def _is_known(facts: Mapping[str, str]) -> bool:
    """Return whether a table says which package has the library."""
    return "detail" not in facts or "outside" in facts


def _of_rocm(subject: Subject, needing: Mapping[str, str], of_rocm: Mapping[str, str], against: Against) -> Problem:
    path = subject.shown(needing[next(iter(of_rocm))])
    facts = {"needing": os.path.basename(path), "name": ", ".join(of_rocm)}
    distributions = {row[0]: row[3] for row in _native.packages()}
    packages = tuple(dict.fromkeys(of_rocm.values()))
    absent = [each for each in packages if not _is_installed(each, against)]
    version = f"=={against.version}" if against.version is not None else ""
    if absent:
        requirement = f"rocm[libraries]{version}" if "libraries" in absent else f"{distributions['core']}{version}"
        return problem("E-LIB-003", path, None, requirement=requirement, **facts)
    where = "; ".join(
        f"{', '.join(name for name in of_rocm if of_rocm[name] == each)} is in {distributions[each]}"
        for each in packages
    )
    owners = " and ".join(distributions[each] for each in packages)
    return problem("E-LIB-002", path, None, detail=f"of AMD's packages, {where}", package=owners, **facts)


def _is_installed(package: str, against: Against) -> bool:
    """Return whether the package that should have it is there; for a directory nothing says what should be."""
    if against.installed is None:
        return True
    try:
        against.installed.sdk.package_directory(package)
    except PackageNotInstalledError:
        return False
    return True
