"""The missing libraries, one problem for each cause: a package of AMD's, or one of the system."""

from __future__ import annotations

import os

from rocm_sdk import _native
from rocm_sdk.errors import PackageNotInstalledError
from rocm_sdk.installed.catalog import package_of
from rocm_sdk.installed.library_directories import led_on
from rocm_sdk.installed.other_distributions import files_beside
from rocm_sdk.problems import problem

from .process_trial import sdk_directories
from .variants import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocm_sdk._native import HostFile, Unfound
    from rocm_sdk.problems import Problem

    from .subject import Against, Subject

HERE = frozenset({"bundled", "SDK", "RPATH", "system", "beside"})  # places of needs
_AROUND = HERE - {"SDK"}


def missing_problems(subject: Subject, files: Iterable[HostFile], against: Against) -> Iterator[Problem]:
    """Yield a problem for each library that the linker does not find.

    If a required distribution that is not installed may bring a library, that is not a problem.
    """
    needing: dict[str, str] = {}  # missing library -> the first file that needs it
    unfound: dict[str, tuple[Unfound, Problem | None]] = {}  # the first of each name, preferably one that exists
    own_hip = None
    for file in files:
        row, directories = file, [""]
        if subject.kind != "wheel" and any(each.place in _AROUND for each in file.unfound):
            beside = subject.files if len(subject.files) > 1 else files_beside(file.path) or ()
            led, directories = led_on(file.path, sdk_directories(against), against.libraries, _AROUND, beside)
            row = led or row
        own_hip = own_hip or row.own_hip
        for each in (*file.unfound, *row.unfound):
            if each.name in unfound and (each.place not in HERE or unfound[each.name][0].place in HERE):
                continue
            is_there = each.fault is None and each.place in HERE
            unreached = _unreached(subject, each, file, directories if loads(row) else []) if is_there else None
            unfound[each.name] = each, unreached
    for each, unreached in unfound.values():
        if each.fault is not None:
            shown = subject.shown(each.needing)
            detail = f"{os.path.basename(shown)} needs it: {subject.shown(each.fault or '')}"
            yield problem(each.fault_code or "E-LIB-006", shown, library=each.name, detail=detail)
        elif unreached is not None:
            yield unreached
        elif each.place == "nowhere":
            needing[each.name] = each.needing
    yield from _nowhere(subject, needing, against, own_hip)


def _nowhere(subject: Subject, needing: Mapping[str, str], against: Against, own_hip: str | None) -> Iterator[Problem]:
    """Yield the problems of libraries that nothing here has, by the packages that should have them.

    own_hip: the HIP that the subject brings. Libraries of ROCm that it lacks are then the subject's fault.
    """
    of_rocm = {name: package for name in needing if (package := package_of(name)) is not None}
    if of_rocm and (own_hip is not None or against.libraries):
        yield _of_rocm(subject, needing, of_rocm, against, own_hip)
    unknown: list[str] = []
    is_of_system = against.installed is not None and against.installed.fallback == "system"
    may_be_of_others = len(of_rocm) < len(needing) and _may_be_of_others(subject)
    for name, path in needing.items():
        facts = _native.missing_library(name, is_of_system)[2]
        if name in of_rocm:
            continue
        if not _is_known(facts) and "." not in name.partition(".so")[2]:
            unknown.append(name)  # no system package has it, since it has no number
        elif _is_known(facts) or not may_be_of_others:
            shown = subject.shown(path)
            yield problem("E-LIB-002", shown, needing=os.path.basename(shown), library=name, **facts)
    if unknown and not may_be_of_others:
        yield _of_python(subject, needing, unknown)


def _unreached(subject: Subject, each: Unfound, file: HostFile, directories: list[str]) -> Problem:
    """Return the problem of a library that exists where, or under a name by which, the linker does not look.

    file is the one that is checked. directories in LD_LIBRARY_PATH let the linker find everything; [] if none do.
    """
    needing, path = subject.shown(each.needing), each.path or ""
    facts = {"needing": os.path.basename(needing), "name": each.name, "present": subject.shown(path)}
    if os.path.basename(path) != each.name:
        facts["why"] = f"which has {each.name} for its SONAME: the linker looks for files by their names"
    elif each.absent:
        facts["why"] = f"and its RPATH or RUNPATH leads to {', '.join(each.absent)}, which is not there"
    if subject.kind != "wheel":
        facts |= _repair_of_unreached(each, path, file, directories)
    return problem("E-LIB-004", needing, library=needing, **facts)


def _repair_of_unreached(each: Unfound, path: str, file: HostFile, directories: list[str]) -> dict[str, str]:
    """Return the facts for the command that lets the linker find a library.

    A file of a package, or one with several links, is not changed: other environments may share it.
    """
    directory, name = os.path.split(os.path.abspath(path))
    package = os.path.dirname(os.path.abspath(file.path))
    if files_beside(each.needing) is not None or os.stat(each.needing).st_nlink > 1:
        if not file.is_program and os.path.exists(os.path.join(package, "__init__.py")):
            return {"first": os.path.basename(package), "file": os.path.basename(file.path)}
        program = os.path.normpath(file.path) if file.is_program else "PROGRAM"
        return {"directory": ":".join(directories), "subject": program} if directories else {}
    if name != each.name:
        return {"target": name, "link": os.path.join(directory, each.name)}
    way = os.path.relpath(directory, os.path.dirname(os.path.abspath(each.needing)))
    return {"rpath": "$ORIGIN" if way == "." else f"$ORIGIN/{way}", "file": each.needing}


def _may_be_of_others(subject: Subject) -> bool:
    """Return whether a distribution that a subject requires, and that is not installed, may bring what it needs."""
    if subject.kind == "SDK" or not subject.needed_too:
        return False
    from rocm_sdk.installed.other_distributions import find  # here: its imports take long

    return any(find(name) is None for name in subject.needed_too)


def _of_python(subject: Subject, needing: Mapping[str, str], names: list[str]) -> Problem:
    """Return the problem of libraries whose names have no number, like those of Python packages such as torch."""
    shown = subject.shown(needing[names[0]])
    facts = {"needing": os.path.basename(shown), "name": ", ".join(names), "library": names[0]}
    detail = "libraries without a number belong to a package of Python"
    if all(each.startswith(("libtorch", "libc10")) for each in names):
        facts |= {"product": "torch"}
    if "/" in names[0]:
        detail = "that is a path, of the machine that built it, and the linker looks nowhere else"
        facts |= {"entry": names[0], "file": needing[names[0]]}
    return problem("E-LIB-002", shown, None, detail=detail, **facts)


def _is_known(facts: Mapping[str, str]) -> bool:
    """Return whether a table says which package has the library."""
    return "detail" not in facts or not facts.keys().isdisjoint(("outside", "part"))


def _of_rocm(
    subject: Subject,
    needing: Mapping[str, str],
    of_rocm: Mapping[str, str],
    against: Against,
    own_hip: str | None,
) -> Problem:
    path = subject.shown(needing[next(iter(of_rocm))])
    facts = {"needing": os.path.basename(path), "name": ", ".join(of_rocm)}
    distributions = {row[0]: row[3] for row in _native.packages()}
    packages = tuple(dict.fromkeys(of_rocm.values()))
    where = "; ".join(
        f"{', '.join(name for name in of_rocm if of_rocm[name] == each)} is in {distributions[each]}"
        for each in packages
    )
    if own_hip is not None:
        detail = f"{subject.shown(own_hip)} is of a ROCm of its own; of AMD's packages, {where}"
        return problem("E-LIB-002", path, None, detail=detail, subject=os.path.basename(subject.name), **facts)
    absent = [each for each in packages if not _is_installed(each, against)]
    version = f"=={against.version}" if against.version is not None else ""
    if absent:
        requirement = f"rocm[libraries]{version}" if "libraries" in absent else f"{distributions['core']}{version}"
        return problem("E-LIB-003", path, None, requirement=requirement, **facts)
    owners = " and ".join(distributions[each] for each in packages)
    return problem("E-LIB-002", path, None, detail=f"of AMD's packages, {where}", package=owners, **facts)


def _is_installed(package: str, against: Against) -> bool:
    """Return whether the package that should have it is installed; for a directory, nothing says what should be."""
    if against.installed is None:
        return True
    try:
        against.installed.sdk.package_directory(package)
    except PackageNotInstalledError:
        return False
    return True
