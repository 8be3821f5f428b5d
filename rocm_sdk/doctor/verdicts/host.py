"""Whether files find the libraries, symbols and versions that they need."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.glibc import glibc_version
from rocm_sdk.installed.catalog import stem
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import HostFile, HostNeed
    from rocm_sdk.problems import Problem

    from .subject import Subject

    Demangle = Callable[[Iterable[str]], dict[str, str] | None]

_HIP = re.compile(r"libamdhip64\.so\.(\d+)")
_GLIBC = re.compile(r"GLIBC_([\d.]+)")


class Host(NamedTuple):
    """What was found. loads is None if it cannot be told: `missing` may come from distributions that are not here."""

    loads: bool | None
    files: tuple[HostFile, ...]
    problems: tuple[Problem, ...]
    missing: tuple[str, ...]  # libraries that nothing here has
    releases: tuple[int, int]  # of ROCm, that the files were built for; 0: not known, or no end


def check_host(subject: Subject, libraries: tuple[str, ...], version: str | None, demangle: Demangle) -> Host:
    """Reads the subject's files. libraries are those of the SDK, () without one; version is the SDK's."""
    files = _native.check_host_files(subject.files, libraries)
    lacking = [need.name for file in files for need in file.needs if need.place == "nowhere"]
    if beside := _of_other_distributions(dict.fromkeys(lacking)):
        files = _native.check_host_files(subject.files, (*libraries, *beside))
    unfound = tuple(dict.fromkeys(need.name for file in files for need in file.needs if need.place == "nowhere"))
    is_blamed = not subject.needed_too or subject.kind == "SDK"
    found = [
        *_faults(subject, files),
        *_another_release(subject, files, version),
        *(_missing(subject, files) if is_blamed and (libraries or not _of_rocm(unfound)) else ()),
        *_lacks(subject, files, demangle),
        *_two_hips(subject, files, libraries),
    ]
    fails = any(each.severity == "error" for each in found)
    return Host(False if fails else None if unfound else True, files, tuple(found), unfound, releases_of(files))


def releases_of(files: Iterable[HostFile]) -> tuple[int, int]:
    """The major versions of ROCm, the first and the last, that all of the files fit; (0, 0): not known."""
    first = max((file.first_release for file in files), default=0)
    lasts = [file.last_release for file in files if file.last_release]
    return first, min(lasts, default=0)


def _of_rocm(names: Iterable[str]) -> bool:
    stems = {stem(entry[2]) for entry in _native.catalog()}
    return any(stem(name) in stems for name in names)


def _of_other_distributions(names: Iterable[str]) -> tuple[str, ...]:
    """Where other packages of this environment have libraries: their `lib`, and what auditwheel adds beside them."""
    from rocm_sdk.installed.installer import own_site

    site = glob.escape(own_site())
    found: list[str] = []
    for name in names:
        for pattern in (f"{site}/*/lib/{glob.escape(name)}", f"{site}/*.libs/{glob.escape(name)}"):
            found += sorted(glob.glob(pattern))[:1]
    return tuple(found)


def _faults(subject: Subject, files: Iterable[HostFile]) -> Iterator[Problem]:
    """One problem of each kind, however many files have it."""
    said: dict[_native.Code, list[HostFile]] = {}
    for file in files:
        if file.fault_code is not None:
            said.setdefault(file.fault_code, []).append(file)
    for code, faulty in said.items():
        first = faulty[0]
        more = f", and {len(faulty) - 1} more files" if len(faulty) > 1 else ""
        detail = subject.shown(first.fault or "") + more
        yield problem(code, subject.shown(first.path), library=subject.shown(first.path), detail=detail)


def _another_release(subject: Subject, files: Iterable[HostFile], version: str | None) -> Iterator[Problem]:
    """All files are of one build, so this is one problem."""
    wrong: dict[str, tuple[HostFile, HostNeed]] = {}
    for file in files:
        for need in file.needs:
            if need.place == "other version":
                wrong.setdefault(need.name, (file, need))
    if not wrong:
        return
    hip = next((name for name in wrong if _HIP.fullmatch(name)), None)
    name = hip or next(iter(wrong))
    file, need = wrong[name]
    number = _HIP.fullmatch(name)
    yield problem(
        "E-LIB-024",
        subject.shown(file.path),
        needing=subject.shown(file.path) if subject.kind == "file" else os.path.basename(subject.name),
        wanted=f"HIP {number[1]}" if number else name,
        version=version,
        name=name,
        present=os.path.basename(need.path or ""),
        more=f", and {len(wrong) - 1} more in other versions" if len(wrong) > 1 else "",
        requirement=f"rocm[libraries]=={number[1]}.*" if number else None,
    )


def _missing(subject: Subject, files: Iterable[HostFile]) -> Iterator[Problem]:
    said: set[str] = set()
    for file in files:
        for need in file.needs:
            if need.place == "nowhere" and need.name not in said:
                said.add(need.name)
                path = subject.shown(file.path)
                yield problem("E-LIB-002", path, needing=os.path.basename(path), name=need.name, library=need.name)


def _lacks(subject: Subject, files: Iterable[HostFile], demangle: Demangle) -> Iterator[Problem]:
    for file in files:
        if not file.lacks:
            continue
        path = subject.shown(file.path)
        newest = max(filter(None, (_glibc(lack.version) for lack in file.lacks)), default=None)
        if newest is not None:
            facts = {"wanted": ".".join(map(str, newest)), "present": glibc_version() or None}
            yield problem("E-LIB-005", path, library=os.path.basename(path), **facts)
            continue
        names = [lack.name for lack in file.lacks if lack.name is not None]
        spelled = demangle(names) or {}
        shown = ", ".join(
            _version(spelled.get(lack.name, lack.name) if lack.name else None, lack.version) for lack in file.lacks
        )
        more = file.lack_count - len(file.lacks)
        where = sorted({lack.library for lack in file.lacks if lack.library is not None})
        place = " and ".join(where) + (" does not have" if len(where) == 1 else " do not have") if where else ""
        detail = f"it needs {shown}{f' and {more} more' if more else ''}, which {place or 'none of its libraries has'}"
        yield problem("E-LIB-020", path, library=os.path.basename(path), detail=detail)


def _version(name: str | None, version: str | None) -> str:
    return f"{name}@{version}" if name and version else name or f"the version {version}"


def _glibc(version: str | None) -> tuple[int, ...] | None:
    found = _GLIBC.fullmatch(version or "")
    return tuple(int(number) for number in found[1].split(".") if number) if found else None


def _two_hips(subject: Subject, files: Iterable[HostFile], libraries: tuple[str, ...]) -> Iterator[Problem]:
    if subject.kind == "SDK":
        return
    own = next((each.path for each in files if os.path.basename(each.path).startswith("libamdhip64")), None)
    others = [path for path in libraries if os.path.basename(path).startswith("libamdhip64.so")]
    if own is not None and others and os.path.realpath(own) not in map(os.path.realpath, others):
        yield problem("W-LIB-026", subject.shown(own), library=subject.shown(own), other=others[0])
