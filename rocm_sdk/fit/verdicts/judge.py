"""The verdict on each subject: one line, and the problems behind it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import NamedTuple

from rocm_sdk._native import choose_index, device_code
from rocm_sdk.errors import PackageNotInstalledError, RocmSdkError
from rocm_sdk.fit.code.candidate import CODE_ENDINGS, may_have_code
from rocm_sdk.fit.code_verdict import CodeVerdict, judge_code
from rocm_sdk.fit.comgr_places import place_problems
from rocm_sdk.fit.coverage import with_code
from rocm_sdk.fit.coverage_words import SPIRV_DEPENDS, remarks_on
from rocm_sdk.fit.frameworks import framework_problems
from rocm_sdk.fit.gpu_builds import claimed_build, how_it_came, problem_of_build, proved_build, version_file
from rocm_sdk.fit.image_kinds import image_kinds
from rocm_sdk.fit.image_kinds import remarks as remarks_of_images
from rocm_sdk.fit.packages import owner_of
from rocm_sdk.installed.catalog import package_of
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.library_directories import further_libraries, shared_libraries
from rocm_sdk.installed.other_distributions import find, versions
from rocm_sdk.problems import problem

from .host import Host, check_host
from .miopen_caches import miopen_problems
from .names_to_open import least_release_of, release_of, requirement_of
from .process_trial import Loading, process_words
from .requirements import OF_TORCH, requirements, unmet
from .subject import Against, Subject, files_of, open_subject, sdk_subject, with_required
from .tags import broken_glibc, misfit, promises_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from rocm_sdk._native import Coverage
    from rocm_sdk.installed.view import Installed
    from rocm_sdk.problems import Problem
    from rocm_sdk.problems.problem import Known

_OF_MISSING = frozenset({"E-LIB-002", "E-LIB-003"})
_OF_BUILDS = frozenset({"E-PKG-026", "E-PKG-029"})
_NAMED = 3  # libraries that a line names


class Question(NamedTuple):
    """The question about each subject. sdk is a directory to check against instead of the installed SDK."""

    gpus: tuple[str, ...]
    installed: Installed
    sdk: str | None = None
    demangle: Callable[[Iterable[str]], dict[str, str] | None] = lambda _names: None


class OnGpu(NamedTuple):
    """A subject on a GPU. runs is None if it has no GPU code at all, or if it is not known."""

    gpu: str
    runs: bool | None
    remarks: tuple[str, ...]


class Verdict(NamedTuple):
    """The verdict on one subject. works is None if it is not known."""

    subject: str
    kind: str
    works: bool | None
    loads: bool | None
    loading: Loading  # the process in which it loads
    gpus: tuple[OnGpu, ...]
    has_code: bool
    line: str
    problems: tuple[Problem, ...]
    releases: tuple[str | None, str | None]  # of ROCm that it fits, the first and the last; None: not known, or no end
    code: CodeVerdict  # its problems are among them
    install: Problem | None  # without an SDK, the problem whose fix installs one that fits

    def without_name(self, found: Problem) -> Problem:
        """Return a problem for readers who know its subject: with "it" instead of the name."""
        names = {self.subject, os.path.basename(self.subject.rstrip("/"))} - {""}
        of_names = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        head = re.compile(rf"(?:^|(?<=: ))(?:{of_names}): ")
        version = rf"(?: {re.escape(found.facts['version'])})?" if "version" in found.facts else ""
        whole = re.compile(rf"(?<!\S)(?:{of_names}){version}(?=[:,;]?(?:\s|$))")
        title, cause = (whole.sub("it", head.sub("", text)) for text in (found.title, found.cause))
        return found._replace(title=title, cause=cause)


def judge(word: str | None, question: Question) -> Verdict:
    """Read the files that a word stands for (None: the installed SDK), and judge them.

    Raises RocmSdkError if there are none.
    """
    against = against_of(question)
    opened = open_subject(word) if word is not None else nullcontext(sdk_subject(question.installed.directories))
    with opened as alone, alone.refused_by_name():
        subject = with_required(alone)
        found = list(_by_name(subject))
        host = check_host(subject, against, question.demangle)
        installed = question.installed if subject.kind == "SDK" and question.sdk is None else None
        has_comgr = against.installed is not None
        code = _named(subject, judge_code(subject.directories, question.gpus, installed, has_comgr=has_comgr))
        is_told = any("with glibc" in each.facts["detail"] for each in found)  # what follows from an older glibc
        found += [each for each in host.problems if not (is_told and each.code == "E-LIB-005")]
        found += _faults(subject, host, code.coverage, question.installed.known)
        if subject.kind == "file" and not host.files and not code.coverage.faults:
            found += _of_no_kind(subject.name)
        if any(library.name == "MIOpen" for library in code.coverage.libraries):
            found += miopen_problems(question.gpus)
        found += [each for on in code.lacks for each in on]
        found += code.problems
        if against.installed is not None and with_code(code.coverage):
            found += place_problems(against.installed)
        if of_builds := list(_of_builds(alone, host)):  # the lack of CUDA follows
            found = [*of_builds, *(each for each in found if each.code not in _OF_MISSING)]
        if subject.distribution in OF_TORCH and subject.kind == "distribution" and (lack := unmet()) is not None:
            found.append(problem("W-PKG-027", **lack))
        if subject.kind == "distribution":
            found += framework_problems(question.installed, (subject.distribution,))
        is_empty = promises_code(alone.tag) and not alone.files and not alone.broken
        lacks = f"none of its files is a library, and {alone.tag} is for wheels with modules" if is_empty else None
        own = set(alone.files)
        loaded = [file.path for file in host.files if file.path in own]  # others are for other makers
        if alone.tag and (detail := lacks or broken_glibc(alone.tag, loaded)) is not None:
            facts = {"distribution": alone.distribution, "version": alone.version}
            found.append(problem("W-PKG-030", None, None, detail=detail, **facts))
        if subject.kind == "distribution":
            found += device_package_problems(subject.name, question.gpus)
        kinds = image_kinds(subject.directories)
        gpus = tuple(_on(code, index, gpu, kinds) for index, gpu in enumerate(question.gpus))
        return _verdict(subject, host, code, gpus, tuple(found), against=against)


def against_of(question: Question) -> Against:
    """Return the SDK's libraries; none without an SDK."""
    if question.sdk is not None:
        return Against(shared_libraries((question.sdk,)))
    installed = question.installed
    try:
        libraries = shared_libraries(installed.directories)
        further = further_libraries(installed, libraries)
        return Against((*libraries, *further), installed.sdk.facts()["version"], installed)
    except PackageNotInstalledError:
        return Against(())


def _by_name(subject: Subject) -> Iterator[Problem]:
    if subject.kind == "wheel" and (detail := misfit(subject.name)) is not None:
        yield problem("E-PKG-020", subject.name, path=subject.name, detail=detail)


def _faults(subject: Subject, host: Host, covered: Coverage, known: Known) -> Iterator[Problem]:
    """Yield the faults of GPU code and tables.

    Faults of files that the linker would refuse are left out: they are already reported. known: see `problem`.
    """
    said = {os.path.realpath(file.path) for file in host.files if file.fault is not None}
    for fault in covered.faults:
        if os.path.realpath(fault.path) not in said:
            shown = subject.shown(fault.path)
            yield problem(fault.code, shown, None, known, library=shown, detail=subject.shown(fault.message))


def _of_builds(subject: Subject, host: Host) -> Iterator[Problem]:
    """Yield the problem that a subject is built for CUDA or without GPUs, or requires a distribution built for CUDA.

    The subject is a distribution or a wheel. Files that the linker would refuse say nothing.
    """
    if not subject.distribution:
        return
    name, version, required = subject.distribution, subject.version, subject.needed_too
    is_installed = subject.kind == "distribution"
    refused = {file.path for file in host.analysis.files if file.fault is not None}
    sound = (path for path in subject.files if path not in refused)
    build = proved_build(claimed_build(name, version, required, subject.version_file), sound)
    came = _way_of(find(name)) if build is not None and is_installed else ""
    if (of_itself := problem_of_build(name, version, build, came)) is not None:
        yield of_itself
        return
    for name in required if is_installed else ():
        if (found := find(name)) is not None:
            text = version_file(str(found.locate_file("")), name)
            claimed = claimed_build(name, found.version, requirements(found.requires or []), text)
            if claimed is not None and claimed.kind == "CUDA":
                build = proved_build(claimed, files_of(found)[0])
                if (problem_of_it := problem_of_build(name, found.version, build, _way_of(found))) is not None:
                    yield problem_of_it


def _way_of(found: Distribution | None) -> str:
    """Return words for how a distribution was installed, from its `.dist-info` directory; "" if that is not known."""
    records = [file for file in (found.files or () if found is not None else ()) if file.name == "RECORD"]
    return how_it_came(os.path.dirname(str(records[0].locate()))) if records else ""


def _of_no_kind(path: str) -> Iterator[Problem]:
    """Yield the problem that a file is neither a library nor GPU code, if it is named like one, or begins like one."""
    try:
        is_static = device_code(path).kind == "static archive" and ".so" in os.path.basename(path)
    except RocmSdkError as error:
        if ".so" in os.path.basename(path) or path.endswith(CODE_ENDINGS) or may_have_code(path):
            yield problem(error.code, path, library=path, detail=error.detail)
        return
    if is_static:
        detail = "it is a static library, an archive of object files, and the linker loads none"
        yield problem("E-LIB-006", path, library=path, detail=detail)


def _named(subject: Subject, code: CodeVerdict) -> CodeVerdict:
    return code._replace(lacks=tuple(tuple(_renamed(subject, each) for each in on) for on in code.lacks))


def _renamed(subject: Subject, found: Problem) -> Problem:
    """Return the problem with the user's names of files, even in what programs read."""
    facts = {name: subject.shown(value) for name, value in found.facts.items()}
    return found._replace(cause=subject.shown(found.cause), title=subject.shown(found.title), facts=facts)


def _on(code: CodeVerdict, index: int, gpu: str, kinds: tuple[str, ...] | None) -> OnGpu:
    remarks = (*remarks_on(code.coverage, index), *remarks_of_images(kinds, gpu))
    return OnGpu(gpu, code.runs[index], remarks)


def _verdict(
    subject: Subject,
    host: Host,
    code: CodeVerdict,
    gpus: tuple[OnGpu, ...],
    problems: tuple[Problem, ...],
    *,
    against: Against,
) -> Verdict:
    has_sdk = bool(against.libraries)
    has_code = bool(with_code(code.coverage))
    errors = [each.code.split("-")[1] for each in problems if each.severity == "error"]
    loads = False if "LIB" in errors or "PKG" in errors else host.loads
    wanted = _wanted(subject, host)
    words = [_loading(host, loads, wanted.release, has_sdk=has_sdk, is_sdk=subject.kind == "SDK"), *host.notes]
    if loads and wanted.is_by_name and against.version and wanted.is_other_than(against.version):
        words.append(
            f"it is for {wanted.release}, the SDK is {against.version}, and nothing in its files says what it calls"
        )
    if builds := [each.title for each in problems if each.code in _OF_BUILDS]:
        words = builds[:1]
    elif not host.files and not has_code and not host.opens.names:
        if subject.kind not in ("wheel", "distribution"):
            nothing = "there is nothing to check: no library, program or GPU code"
        else:
            requires = f", and it requires {', '.join(subject.needed_too)}" if subject.needed_too else ""
            kind = "it has no compiled file" if promises_code(subject.tag) else "it is pure Python"
            kind = f"its libraries are for Windows ({subject.for_windows})" if subject.for_windows else kind
            nothing = f"there is nothing to check: {kind}{requires}"
        words = [nothing]
    elif not has_code:
        words.append("no GPU code of its own")
        words += [f"on {on.gpu}: {remark}" for on in gpus for remark in on.remarks]
    elif not gpus:
        words.append("for which GPU? --gpu names one")
    else:
        words += map(_running, gpus)
    works: bool | None = True
    if errors or loads is False or any(on.runs is False for on in gpus):
        works = False
    elif loads is None or not host.opens.is_possible or not (host.files or has_code or host.opens.names):
        works = None
    elif has_code and not (gpus and all(on.runs for on in gpus)):
        works = None  # the GPU, or the comgr, is not known
    lacks_sdk = not has_sdk and (bool(host.opens.absent) or any(map(package_of, host.nowhere)))
    install = _lack_of_sdk(wanted.requirement) if loads is not True and lacks_sdk else None
    said = (gpus, has_code, "; ".join(words), problems)
    return Verdict(
        subject.name,
        subject.kind,
        works,
        loads,
        host.loading,
        *said,
        releases=(wanted.first, wanted.last),
        code=code,
        install=install,
    )


class _Wanted(NamedTuple):
    """The releases of ROCm that a subject is for. is_by_name: its name and version say more than its files."""

    first: str | None
    last: str | None
    release: str | None
    requirement: str | None
    is_by_name: bool = False

    def is_other_than(self, version: str) -> bool:
        """Return whether an SDK of this version is of another release."""
        first = self.first or ""
        is_older = int(version.partition(".")[0]) < int(first.partition(".")[0])
        return is_older if self.last != first else not f"{version}.".startswith(f"{first}.")


def _wanted(subject: Subject, host: Host) -> _Wanted:
    named = release_of(subject.distribution, subject.version) if host.built_for is None else None
    if named is not None:
        return _Wanted(named, named, f"ROCm {named}", requirement_of(named), is_by_name=True)
    found, least = host.analysis, least_release_of((subject.distribution, *subject.needed_too))
    if least is not None and int((found.first_release or least).partition(".")[0]) < int(least.partition(".")[0]):
        words = f"ROCm {least} or newer"
        return _Wanted(least, found.last_release, words, f"rocm[libraries]>={least}", is_by_name=True)
    return _Wanted(found.first_release, found.last_release, host.built_for, found.requirement)


def _lack_of_sdk(requirement: str | None) -> Problem | None:
    """Return the problem whose fix installs an SDK; None if no index is known that has one."""
    if requirement is None:
        return None
    is_served = os.environ.get("ROCM_SDK_INDEX") or choose_index(requirement[requirement.index(">=") :]) is not None
    return problem("E-LIB-003", None, None, requirement=requirement) if is_served else None


def _loading(host: Host, loads: bool | None, release: str | None, *, has_sdk: bool, is_sdk: bool) -> str:
    """Return words for the process in which the subject loads.

    The SDK, by definition, loads in the process that has called rocm_sdk.
    """
    absent = ", ".join(host.opens.absent[:_NAMED])
    where = "" if is_sdk else process_words(host.loading)
    if loads and where:
        unfound = ", ".join(host.loading.unfound[:_NAMED])
        return f"loads {where}; alone it {f'does not find {unfound}' if unfound else 'lacks symbols or versions'}"
    if loads:
        so = "no package here has it" if has_sdk else "no SDK is here"
        if absent:
            return f"loads; it opens {absent} by name, and {so}"
        opened = ", ".join(host.opens.names[:_NAMED])
        return "loads" if host.files or not opened else f"loads; it opens {opened} by name"
    if loads is False:
        is_other = host.analysis.other_release is not None
        so = f": it is for {release}" if is_other else f"; it is for {release}"
        return f"does not load{so}" if release and (is_other or not has_sdk) else "does not load"
    why = [] if host.opens.is_possible else [f"it opens {absent} by name"]
    missing = ", ".join(host.missing[:_NAMED])
    if not has_sdk and (release or host.opens.absent or any(map(package_of, host.missing))):
        lacking = f"no SDK is here for {missing}" if missing else "no SDK is here"
        why += [lacking, *([f"it is for {release}"] if release else [])]
    else:
        why.append(f"no package here has {missing or 'it'}")
    return f"cannot tell whether it loads: {', and '.join(filter(None, (', '.join(why[:-1]), why[-1])))}"


def _running(on: OnGpu) -> str:
    if on.runs is None:
        return "; ".join((f"cannot tell whether it runs on {on.gpu}: {SPIRV_DEPENDS}", *on.remarks))
    start = f"runs on {on.gpu}" if on.runs else f"does not run on {on.gpu}"
    return "; ".join((start, *on.remarks))


_EXTRA = "device-"


def device_package_problems(name: str, gpus: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each GPU whose package is missing beside a distribution.

    The GPU code of such a distribution is in packages for each target, and it has an extra for each target,
    "device-gfx942". A distribution without such extras contains its code itself.
    """
    base = find(name)
    if base is None:
        return
    offered = {extra for extra in base.metadata.get_all("Provides-Extra") or () if extra.startswith(_EXTRA)}
    if not offered:
        return
    stem = f"amd-{normalised(name)}-device-"
    installed = versions(stem)
    for gpu in gpus:
        owner = owner_of(gpu.partition(":")[0])
        wanted, version = f"{stem}{owner}", base.version
        if installed.get(wanted) == version:
            continue
        if wanted in installed:
            detail = f"{wanted} has version {installed[wanted]}, {name} {version}"
        elif installed:
            detail = f"{wanted} is not installed; {', '.join(sorted(installed))} is for other GPUs"
        else:
            detail = f"{wanted} is not installed"
        requirement = f"{wanted}=={version}" if f"{_EXTRA}{owner}" in offered else None
        yield problem("E-PKG-021", distribution=name, target=gpu, detail=detail, requirement=requirement)
