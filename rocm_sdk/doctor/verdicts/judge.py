"""The verdict on each subject: one line, and the problems behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import NamedTuple

from rocm_sdk.errors import PackageNotInstalledError
from rocm_sdk.gpu_support.code_verdict import CodeVerdict, judge_code
from rocm_sdk.gpu_support.coverage import with_code
from rocm_sdk.gpu_support.image_kinds import image_kinds
from rocm_sdk.gpu_support.image_kinds import remarks as remarks_of_images
from rocm_sdk.gpu_support.words import remarks_on
from rocm_sdk.problems import problem

from .host import Host, check_host
from .miopen_caches import miopen_problems
from .subject import Subject, open_subject, sdk_subject, shared_libraries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rocm_sdk._native import Coverage
    from rocm_sdk.installed.installation import Installed
    from rocm_sdk.problems import Problem

_NAMED = 3  # libraries that a line names


class Question(NamedTuple):
    """What is asked of each subject. sdk is a directory to check against in place of the installed SDK."""

    gpus: tuple[str, ...]
    installed: Installed
    sdk: str | None = None
    demangle: Callable[[Iterable[str]], dict[str, str] | None] = lambda _names: None


class OnGpu(NamedTuple):
    """A subject on a GPU. runs is None if it has code for no GPU at all, or cannot be told."""

    gpu: str
    runs: bool | None
    remarks: tuple[str, ...]


class Verdict(NamedTuple):
    """What can be said of one subject. works is None if it cannot be told."""

    subject: str
    kind: str
    works: bool | None
    loads: bool | None
    gpus: tuple[OnGpu, ...]
    has_code: bool
    line: str
    problems: tuple[Problem, ...]
    releases: tuple[int, int]  # major versions of ROCm that it fits; 0: not known, or no end
    code: CodeVerdict  # whose problems are among them


def judge(word: str | None, question: Question) -> Verdict:
    """Reads the files that a word stands for (None: the installed SDK). Raises RocmSdkError if there are none."""
    libraries, version = _libraries_of(question)
    opened = open_subject(word) if word is not None else nullcontext(sdk_subject(question.installed.directories))
    with opened as subject, subject.refused_by_name():
        found = list(_by_name(subject))
        host = check_host(subject, libraries, version, question.demangle)
        installed = question.installed if subject.kind == "SDK" and question.sdk is None else None
        code = _named(subject, judge_code(subject.directories, question.gpus, installed))
        found += host.problems
        found += _faults(subject, host, code.coverage)
        if any(library.name == "MIOpen" for library in code.coverage.libraries):
            found += miopen_problems(question.gpus)
        found += [each for on in code.lacks for each in on]
        if subject.kind == "distribution":
            from .device_packages import device_package_problems

            found += device_package_problems(subject.name, question.gpus)
        kinds = image_kinds(subject.directories)
        gpus = tuple(_on(code, index, gpu, kinds) for index, gpu in enumerate(question.gpus))
        return _verdict(subject, host, code, gpus, tuple(found), has_sdk=bool(libraries))


def _libraries_of(question: Question) -> tuple[tuple[str, ...], str | None]:
    """The SDK's libraries and version; () and None without an SDK."""
    if question.sdk is not None:
        return shared_libraries((question.sdk,)), None
    try:
        return shared_libraries(question.installed.directories), question.installed.sdk.facts()["version"]
    except PackageNotInstalledError:
        return (), None


def _by_name(subject: Subject) -> Iterator[Problem]:
    if subject.kind == "wheel":
        from .tags import misfit

        if (detail := misfit(subject.name)) is not None:
            yield problem("E-PKG-020", subject.name, path=subject.name, detail=detail)


def _faults(subject: Subject, host: Host, covered: Coverage) -> Iterator[Problem]:
    """Of GPU code and tables; of files that the linker would refuse, that is said already."""
    said = {os.path.realpath(file.path) for file in host.files if file.fault is not None}
    for fault in covered.faults:
        if os.path.realpath(fault.path) not in said:
            shown = subject.shown(fault.path)
            yield problem(fault.code, shown, library=shown, detail=subject.shown(fault.message))


def _named(subject: Subject, code: CodeVerdict) -> CodeVerdict:
    return code._replace(lacks=tuple(tuple(_renamed(subject, each) for each in on) for on in code.lacks))


def _renamed(subject: Subject, found: Problem) -> Problem:
    """The problem with the user's names of files, in all that programs read, too."""
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
    has_sdk: bool,
) -> Verdict:
    has_code = bool(with_code(code.coverage))
    errors = [each.code.split("-")[1] for each in problems if each.severity == "error"]
    loads = False if "LIB" in errors or "PKG" in errors else host.loads
    words = [_loading(host, loads, has_sdk=has_sdk)]
    if not host.files and not has_code:
        words = ["there is nothing to check: no library, program or GPU code"]
    elif not has_code:
        words.append("no GPU code of its own")
    elif not gpus:
        words.append("for which GPU? --gpu names one")
    else:
        words += map(_running, gpus)
    works: bool | None = True
    if errors or loads is False or any(on.runs is False for on in gpus):
        works = False
    elif loads is None or (has_code and not gpus) or not (host.files or has_code):
        works = None
    said = (gpus, has_code, "; ".join(words), problems, host.releases)
    return Verdict(subject.name, subject.kind, works, loads, *said, code=code)


def _loading(host: Host, loads: bool | None, *, has_sdk: bool) -> str:
    release = release_text(host.releases)
    is_other = any(each.code == "E-LIB-024" for each in host.problems)
    if loads:
        return "loads"
    if loads is False:
        return f"does not load: it is for {release}" if is_other and release else "does not load"
    if not has_sdk and release:
        return f"cannot tell whether it loads: no SDK is here, and it is for {release}"
    return f"cannot tell whether it loads: no package here has {', '.join(host.missing[:_NAMED])}"


def release_text(releases: tuple[int, int]) -> str | None:
    """ "ROCm 7", "ROCm 6 or 7", "ROCm 6 or newer"; None if nothing is known."""
    first, last = releases
    if first and last:
        return f"ROCm {first}" if first == last else f"ROCm {first} to {last}"
    if first:
        return f"ROCm {first} or newer"
    return f"ROCm {last} or older" if last else None


def _running(on: OnGpu) -> str:
    start = f"runs on {on.gpu}" if on.runs else f"does not run on {on.gpu}"
    return "; ".join((start, *on.remarks))
