"""The check whether files find the libraries, symbols and versions that they need."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.glibc import glibc_version
from rocm_sdk.base.value_text import counted, size_text
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.binding_faults import binding_faults
from rocm_sdk.fit.gpu_builds import LIBRARY_OF_HIP
from rocm_sdk.installed.catalog import linker_name, package_of, rows_of, stem
from rocm_sdk.installed.distributions import is_of_sdk
from rocm_sdk.problems import problem

from .absent_libraries import HERE, missing_problems
from .names_to_open import Opening, opening
from .opened_names import OpenedName, opened_names
from .process_trial import Loading, sdk_directories, try_files
from .variants import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import HostFile, HostFiles, HostLack, OtherRelease
    from rocm_sdk.problems import Problem

    from .subject import Against, Subject

    Demangle = Callable[[Iterable[str]], dict[str, str] | None]
    from collections.abc import Iterator

_GRAFTED = re.compile(r"-[0-9a-f]{8}(?=\.so)")  # the hash that auditwheel adds to the name of a copy
_GLIBC = re.compile(r"GLIBC_([\d.]+)")
_OF_HIP = re.compile(r"(?:hip|hiprtc)[A-Z]")  # functions, which Rust calls without a DT_NEEDED entry


class Host(NamedTuple):
    """The findings of a check.

    loads is None if it is not known: `missing` may come from distributions that are not here, or none of the
    libraries that it certainly opens by name is here. loading: the process in which it loads.
    """

    loads: bool | None
    files: tuple[HostFile, ...]
    analysis: HostFiles
    loading: Loading
    built_for: str | None  # the releases of ROCm, as text
    problems: tuple[Problem, ...]
    missing: tuple[str, ...]  # libraries that the linker does not find
    nowhere: tuple[str, ...]  # those of them that nothing here has, but an SDK could bring
    notes: tuple[str, ...]  # on libraries of which one is loaded
    opens: Opening


def check_host(subject: Subject, against: Against, demangle: Demangle) -> Host:
    """Read and judge the subject's files."""
    libraries = against.libraries
    files, analysis, variants, loading = try_files(subject, against)
    found = [
        *_faults(subject, files),
        *_another_release(subject, analysis, against, variants.built_for),
        *missing_problems(subject, files, against),
        *_lacks(subject, files, against, demangle),
        *_two_hips(subject, files, libraries),
        *_copies(subject, libraries),
        *_auditors(subject, files),
    ]
    fails = any(each.severity == "error" for each in found)
    if not fails:
        found += beside_program(subject, analysis, against)
    opens = opening(subject, analysis, libraries)
    without_file = _without_file(subject, files, opens, against)
    found += [each.as_problem(subject.shown(each.opener)) for each in without_file]
    if opens.is_certain:
        loading = _behind_opened(_behind_names(loading, without_file), opens, against)
    is_unknown = not all(map(loads, files)) or (opens.is_certain and not opens.is_possible)
    verdict = False if fails else None if is_unknown else True
    built_for = variants.built_for or analysis.built_for
    missing = dict.fromkeys(each.name for file in files for each in file.unfound)
    missing |= {"libamdhip64.so": None} if _calls_hip(files, against) else {}
    borrowed = {each.borrowed for each in files if each.borrowed is not None and subject.kind == "wheel"}
    notes = (*variants.notes, *(f"it calls {each} of the interpreter without a DT_NEEDED entry" for each in borrowed))
    there = {each.name for file in files for each in file.unfound if file.own_hip or each.place in HERE}
    nowhere = tuple(name for name in missing if name not in there)
    return Host(verdict, files, analysis, loading, built_for, tuple(found), tuple(missing), nowhere, notes, opens)


def _without_file(subject: Subject, files: tuple[HostFile, ...], opens: Opening, against: Against) -> list[OpenedName]:
    """Return the names without a version that the subject opens, and that no file has."""
    if subject.kind == "SDK":  # `rocm-sdk test` says it
        return []
    bare = [name for name in opens.names if name not in opens.absent and (opens.by_python or not files)]
    return opened_names((file.path for file in files if file.fault is None), against.libraries, bare, subject.name)


def _behind_names(loading: Loading, names: list[OpenedName]) -> Loading:
    """Return the process in which names that are certainly opened are answered, too."""
    answered = [each for each in names if each.shortname is not None]
    if not answered:
        return loading
    shortnames = dict.fromkeys((*(loading.shortnames or ()), *(str(each.shortname) for each in answered)))
    is_run = loading.is_run or not loading.unfound
    unfound = (*loading.unfound, *(each.name for each in answered))
    return loading._replace(unfound=unfound, shortnames=tuple(shortnames), is_run=is_run)


def _behind_opened(loading: Loading, opens: Opening, against: Against) -> Loading:
    """Return the process in which the SDK's libraries that are certainly opened, by their paths, load, too.

    The linker goes on from such a library as from a needed one.
    """
    by_name = {linker_name(os.path.basename(path)): path for path in reversed(against.libraries)}
    paths = tuple(by_name[name] for name in opens.names if name in by_name)
    if against.installed is None or not paths:
        return loading
    directories = sdk_directories(against)
    found = _native.check_host_files(paths, against.libraries, directories=directories, installed=True).files
    failing = [file for file in found if file.unfound_alone and (file.by_shortnames or file.by_files)]
    if not failing:
        return loading
    shortnames = dict.fromkeys(row[0] for file in failing for row in rows_of(os.path.basename(file.path)))
    unfound = dict.fromkeys((*loading.unfound, *(name for file in failing for name in file.unfound_alone)))
    every = dict.fromkeys((*(loading.shortnames or ()), *shortnames))
    return loading._replace(
        unfound=tuple(unfound), shortnames=tuple(every), is_run=loading.is_run or not loading.unfound
    )


def _faults(subject: Subject, files: Iterable[HostFile]) -> Iterator[Problem]:
    """Yield a problem of each kind, however many files have it."""
    said: dict[_native.Code, list[HostFile]] = {}
    for file in files:
        if file.fault_code is not None:
            said.setdefault(file.fault_code, []).append(file)
    for code, faulty in said.items():
        first = faulty[0]
        count = len(faulty) - 1 + (subject.broken if code == "E-LIB-006" else 0)
        more = f", and {count} more files" if count else ""
        shown, detail = subject.shown(first.path), subject.shown(first.fault or "") + more
        yield problem(code, shown, library=shown, detail=detail, file=None if subject.kind == "SDK" else shown)


def _another_release(subject: Subject, analysis: HostFiles, against: Against, wanted: str | None) -> Iterator[Problem]:
    other = analysis.other_release
    if other is not None:
        facts = {"requirement": analysis.requirement, "version": against.version, "wanted": wanted}
        name = subject.name if other.file in subject.files else other.file
        yield other_release_problem(other, subject.shown(other.file), name, **facts)


def other_release_problem(
    other: OtherRelease,
    path: str,
    name: str,
    *,
    requirement: str | None,
    version: str | None,
    wanted: str | None = None,
) -> Problem:
    """Return the problem that files are for another release than the SDK's: only one, since all are of one build.

    path is the path of other.file as the user knows it, name the name of the files' subject; requirement names an SDK
    that fits, version is the SDK's. wanted: the releases that they are for, if other than the releases of `other`.
    """
    return problem(
        "E-LIB-024",
        path,
        needing=os.path.basename(name.rstrip("/")),
        wanted=wanted or other.built_for,
        version=version or (other.sdk or "another one").removeprefix("ROCm "),
        name=other.name,
        present=other.present,
        more=other.more,
        requirement=requirement,
    )


def _lacks(subject: Subject, files: tuple[HostFile, ...], against: Against, demangle: Demangle) -> Iterator[Problem]:
    """Yield a problem for each known cause why files lack something in their libraries.

    A library that is too old is one cause, whichever versions of it the files need; so is the system's glibc.

    If libraries of ROCm are not here, nobody knows what is in them; a file may use one that another file of the package
    needs and loads. If they are of another release, that explains what they lack.
    """
    needs = [need for file in files for need in file.needs if need.place not in HERE]
    lacks_rocm = any(package_of(need.name) is not None for need in needs) or _calls_hip(files, against)
    causes: dict[object, list[tuple[HostFile, tuple[HostLack, ...]]]] = {}
    for file in files:
        lacks = tuple(
            each
            for each in file.lacks
            if not (lacks_rocm and (each.library is None or package_of(each.library) is not None))
        )
        if lacks:
            is_glibc = any(_glibc(each.version) is not None for each in lacks)
            names = frozenset(each.name for each in lacks)
            causes.setdefault("glibc" if is_glibc else lacks[0].library or names, []).append((file, lacks))
    for having in causes.values():
        file, lacks = max(
            having, key=lambda each: max(filter(None, (_glibc(lack.version) for lack in each[1])), default=())
        )
        more = f" (and {counted(len(having) - 1, 'more file')})" if len(having) > 1 else ""
        yield _unfit(subject, file, lacks[0], against, more) or _lack(subject, file, lacks, demangle, more)


def _calls_hip(files: tuple[HostFile, ...], against: Against) -> bool:
    """Return whether, without an SDK, a file lacks functions of HIP, and names no library for them."""
    return not against.libraries and any(_OF_HIP.match(lack.name or "") for file in files for lack in file.lacks)


def _unfit(subject: Subject, file: HostFile, lack: HostLack, against: Against, more: str) -> Problem | None:
    """Return the problem of a library that should have what is missing, as the exception says it; None: not known.

    more: words for the other files that lack it.
    """
    said = f"{lack.library}: version `{lack.version}' not found (required by {lack.needing})"
    if lack.name is not None:
        said = f"{lack.needing}: undefined symbol: {lack.name}"
    site, fallback = (against.installed.site, against.installed.fallback) if against.installed else ("", None)
    code, path, facts = _native.explain_load(site, file.path, said, fallback)
    if code != "E-LIB-020" or path is None or "provider" not in facts:
        return None
    own = {"subject": os.path.basename(subject.name.rstrip("/"))} if subject.kind != "SDK" else {}
    if package_of(str(lack.library)) is not None and not against.libraries:
        facts.pop("variable", None)  # it leads to the only ROCm
    return problem(code, subject.shown(path), library=os.path.basename(path) + more, **facts, **own)


def _lack(subject: Subject, file: HostFile, lacks: tuple[HostLack, ...], demangle: Demangle, others: str) -> Problem:
    """Return the problem of the first file that lacks something: the checked one, or one that it brings in."""
    lacks = tuple(each for each in lacks if each.needing == lacks[0].needing)
    path = subject.shown(lacks[0].needing)
    newest = max(filter(None, (_glibc(lack.version) for lack in lacks)), default=None)
    if newest is not None:
        facts = {"wanted": ".".join(map(str, newest)), "present": glibc_version() or None}
        return problem("E-LIB-005", path, library=os.path.basename(path) + others, **facts)
    spelled = demangle([lack.name for lack in lacks if lack.name is not None]) or {}
    by_library: dict[str | None, list[str]] = {}
    for lack in lacks:
        name = spelled.get(lack.name, lack.name) if lack.name else None
        by_library.setdefault(lack.library, []).append(_version(name, lack.version))
    more = file.lack_count - len(file.lacks)
    shown = [
        f"{', '.join(names)}{f' and {more} more' if more and len(by_library) == 1 else ''}, which"
        f" {f'{library} does not have' if library is not None else 'none of its libraries has'}"
        for library, names in by_library.items()
    ]
    also = f"; and {more} more" if more and len(by_library) > 1 else ""
    definers = sorted({os.path.basename(lack.definer) for lack in lacks if lack.definer is not None})
    other = f"; {' and '.join(definers)} of the SDK has it, and is not among its DT_NEEDED" if definers else ""
    detail = f"it needs {', and '.join(shown)}{also}{other}"
    facts = {"subject": os.path.basename(subject.name.rstrip("/"))} if subject.kind != "SDK" else {}
    return problem("E-LIB-020", path, library=os.path.basename(path) + others, detail=detail, **facts)


def _version(name: str | None, version: str | None) -> str:
    return f"{name}@{version}" if name and version else name or f"the version {version}"


def _glibc(version: str | None) -> tuple[int, ...] | None:
    found = _GLIBC.fullmatch(version or "")
    return tuple(int(number) for number in found[1].split(".") if number) if found else None


def _auditors(subject: Subject, files: Iterable[HostFile]) -> Iterator[Problem]:
    """Yield a problem for each library that the linker would run because a file names it.

    Nothing here starts the linker on such a file.
    """
    for path, name in dict.fromkeys((str(file.audited), file.audit) for file in files if file.audit is not None):
        shown = subject.shown(path)
        yield problem("W-LIB-028", shown, library=shown, name=name)


def _two_hips(subject: Subject, files: Iterable[HostFile], libraries: tuple[str, ...]) -> Iterator[Problem]:
    """Yield a problem for each HIP beside the SDK's: one of the files, or one that a file brings into its process."""
    own = next((each.path for each in files if os.path.basename(each.path).startswith("libamdhip64")), None)
    others = [path for path in libraries if os.path.basename(path).startswith("libamdhip64.so")]
    found = (own, *(file.outside_hip for file in files))
    by_path = {os.path.realpath(path): path for path in found if path is not None}
    is_sdk = subject.kind == "SDK" or is_of_sdk(subject.distribution)  # whose installation replaces the other
    for real, path in by_path.items() if not is_sdk and others else ():
        if real not in map(os.path.realpath, others):
            yield problem("W-LIB-026", subject.shown(path), library=subject.shown(path), other=others[0])


def _copies(subject: Subject, libraries: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the problem that a wheel or distribution without its own HIP has copies of ROCm's libraries.

    If an SDK has them, too, libraries of its core, and those with the SDK's own names, are in one process twice.
    """
    ours = {os.path.basename(path) for path in libraries}
    names = {path: _GRAFTED.sub("", os.path.basename(path)) for path in subject.files}
    copies = {path: name for path, name in names.items() if LIBRARY_OF_HIP.match(name) and package_of(name)}
    is_own = not subject.distribution or is_of_sdk(subject.distribution) or not libraries
    if is_own or not copies or any(stem(name) == "amdhip64" for name in names.values()):
        return
    is_twice = any(package_of(name) == "core" or os.path.basename(path) in ours for path, name in copies.items())
    facts = {
        "distribution": subject.distribution,
        "size": size_text(sum(os.path.getsize(path) for path in copies)),
        "libraries": ", ".join(sorted(map(os.path.basename, copies))),
    }
    first = subject.shown(next(iter(copies)))
    yield problem("W-LIB-029", first, **facts) if is_twice else problem("N-LIB-030", first, **facts)


def beside_program(subject: Subject, analysis: HostFiles, against: Against) -> Iterator[Problem]:
    """Yield a problem for each library of the SDK with each that answers for it, in a program that uses ROCm.

    Libraries are not checked: initialize_process loads the SDK before them.
    """
    uses_rocm = analysis.opened or any(need.place == "SDK" for file in analysis.files for need in file.needs)
    is_program = subject.kind == "file" and any(file.is_program for file in analysis.files)
    if not is_program or against.installed is None or not uses_rocm:
        return
    installed = against.installed
    own = {os.path.realpath(path) for path in against.libraries}
    opened = [need.path for need in analysis.opened if need.place == "SDK" and need.path is not None]
    try:
        comgr = installed.locations.get("amd_comgr")
        opened += [comgr.path] if comgr is not None and comgr.path is not None else []
        found = installed.sdk.bindings(files=(*subject.files, *opened))
    except RocmSdkError:
        return  # the error is the SDK's, and `rocm-sdk test` reports it
    faults = (each for each in found.references if os.path.realpath(each.library) in own)
    yield from binding_faults(faults, installed, needing=subject.name)
