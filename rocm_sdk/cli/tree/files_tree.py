"""Files, wheels and installed distributions in the tree: what they need and what they open by name, with the libraries
of the SDK below them."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import rocm_sdk
from rocm_sdk._native import inspect_library
from rocm_sdk.base.scratch import removed_at_signals
from rocm_sdk.doctor.verdicts.host import read_files
from rocm_sdk.doctor.verdicts.judge import Question, against_of
from rocm_sdk.doctor.verdicts.opened_names import opened_names
from rocm_sdk.doctor.verdicts.opening import opening
from rocm_sdk.doctor.verdicts.subject import open_subject
from rocm_sdk.gpu_support.words import named
from rocm_sdk.installed.catalog import linker_name, rows_of
from rocm_sdk.installed.installation import current
from rocm_sdk.terminal.output import complain
from rocm_sdk.terminal.progress import with_progress

from .plan_tree import Branch, File, FileStep, Tree, file_at

if TYPE_CHECKING:
    from rocm_sdk._native import HostFile, HostFiles, HostNeed
    from rocm_sdk.doctor.verdicts.opened_names import OpenedName
    from rocm_sdk.doctor.verdicts.opening import Opening
    from rocm_sdk.doctor.verdicts.subject import Subject

_BESIDE = ("bundled", "RPATH")  # places of what the package brings itself
_WITH_IT = (*_BESIDE, "SDK")  # places of what comes in with a file


def with_files(tree: Tree, words: list[str]) -> tuple[Tree, bool]:
    """The tree with the files of these words behind its own, and whether each word has one that can be used.

    They are read and not loaded.

    Raises RocmSdkError for a word that stands for nothing.
    """
    libraries = against_of(Question((), current())).libraries
    below = _Below()
    branches, missing = list(tree.branches), dict.fromkeys(tree.missing)
    seen = set(tree.files)
    all_usable = True
    with removed_at_signals():
        for word in with_progress("reading", words, len(words)):
            with open_subject(word) as subject, subject.refused_by_name():
                analysis = read_files(subject, libraries)[0]
                opens = opening(subject, analysis, libraries)
                if not analysis.files and not opens.names:
                    complain(f"{word}: there is no library and no program in it")
                if opens.absent:
                    complain(f"{_opens(word, opens)} {', '.join(opens.absent)} by name, and no package here has it")
                all_usable &= bool(opens.names) or any(file.fault is None for file in analysis.files)
                without = _without_file(subject, analysis, opens, libraries)
                for each in without.values():
                    if each.shortname is None:
                        complain(f"{_opens(word, opens)} {each.name} by name: {each.text}")
                for branch in _branches(subject, analysis, opens, below, seen, without):
                    seen.update(each.path for each in (branch.file, *branch.brings))
                    branches.append(branch)
                    missing |= dict.fromkeys(branch.step.missing)
    return Tree(tuple(branches), tuple(missing)), all_usable


class _Below:
    """What the libraries that a file needs bring into a process: asked of the loader once for each set of them."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], tuple[str, ...]] = {}

    def __call__(self, needs: frozenset[str]) -> tuple[str, ...]:
        """Paths of the SDK, those that are asked about first."""
        if not needs:
            return ()
        if needs not in self._known:
            self._known[needs] = tuple(dict.fromkeys(_planned(sorted(needs))))
        return self._known[needs]


def _planned(paths: list[str]) -> Iterator[str]:
    yield from paths
    for step in rocm_sdk.load_plan(files=paths, new_process=True).steps:
        yield step.path
        yield from step.members


def _without_file(
    subject: "Subject", analysis: "HostFiles", opens: "Opening", libraries: tuple[str, ...]
) -> "dict[str, OpenedName]":
    """The names without version among what a word opens that no file has. A name with a version is opened too, if any
    is: that is found in the process."""
    with_version = {linker_name(need.name) for need in analysis.opened if need.name != linker_name(need.name)}
    files = [file.path for file in analysis.files if file.fault is None]
    bare = [name for name in opens.names if not analysis.files and name not in opens.absent]
    found = opened_names(files, libraries, bare, subject.name)
    return {each.name: each for each in found if each.name in opens.names and each.name not in with_version}


def _branches(  # noqa: PLR0917
    subject: "Subject",
    analysis: "HostFiles",
    opens: "Opening",
    below: _Below,
    seen: set[str],
    without: "dict[str, OpenedName]",
) -> Iterator[Branch]:
    """The files of a word, then the libraries of the SDK that they open by name. The caller adds to `seen`."""
    for file in analysis.files:
        yield _branch(subject, file, below, seen)
    for name in opens.names:
        path = None if name in opens.absent else rocm_sdk.locate(rows_of(name)[0][0]).path
        only = without.get(name)
        if path is not None and (only is None or only.shortname is not None):
            branch = _opened(f"{_opens(subject.name, opens)} {name} by name", path, below, seen)
            yield (
                branch
                if only is None
                else branch._replace(
                    step=branch.step._replace(method="answered", answer=only.text)  # type: ignore[call-arg]
                )
            )


def _opens(word: str, opens: "Opening") -> str:
    return f"{word} opens" if opens.is_certain else f"{word} may open"


def _opened(reason: str, path: str, below: _Below, seen: set[str]) -> Branch:
    """A library of the SDK that no DT_NEEDED entry names, with what it brings and no branch before it does."""
    site = current().site
    facts = inspect_library(path)
    members = below(frozenset((path,)))
    brings = tuple(file_at(each, site) for each in members if each not in seen | {path})
    by_name = {os.path.basename(each): each for each in members}
    step = FileStep(
        path=path,
        soname=facts.soname,
        reason=reason,
        members=members,
        needed=tuple(by_name[name] for name in facts.needed if name in by_name),
        outside=tuple(name for name in facts.needed if name not in by_name),
        missing=(),
        method="named",
        requested=False,
    )
    return Branch(step, file_at(path, site), brings, None)


def _branch(subject: "Subject", file: "HostFile", below: _Below, seen: set[str]) -> Branch:
    """A file with what it brings and no branch before it does."""
    site = current().site
    bundled, led_to = (
        [need.path for need in file.needs if need.place == place and need.path is not None] for place in _BESIDE
    )
    needs = frozenset(str(need.path) for need in file.needs if need.place == "SDK")
    members = tuple(dict.fromkeys((*bundled, *led_to, *below(needs))))
    brings = tuple(_file(subject, path, site) for path in members if path not in seen | {file.path, *bundled})
    own = _file(subject, file.path, site)
    step = FileStep(
        path=own.path,
        soname=file.soname,
        reason=_reason(subject, file, {each.path for each in brings}),
        members=tuple(_file(subject, path, site).path for path in (file.path, *members)),
        needed=tuple(_file(subject, str(need.path), site).path for need in file.needs if need.place in _WITH_IT),
        outside=tuple(need.name for need in file.needs if need.place == "system"),
        missing=tuple(need.name for need in file.needs if need.place not in (*_WITH_IT, "system")),
    )
    return Branch(step, own, brings, None)


def _file(subject: "Subject", path: str, site: str) -> File:
    """A file with the user's name of it; what is in a wheel lies below the wheel."""
    found = file_at(path, site)
    if subject.root is None or not path.startswith(f"{subject.root}/"):
        return found._replace(location=os.path.normpath(found.location))
    return found._replace(path=subject.shown(path), location=path.removeprefix(f"{subject.root}/"))


def _reason(subject: "Subject", file: "HostFile", below: set[str]) -> str:
    """What of its needs is not below it."""
    if file.fault is not None:
        return subject.shown(file.fault)
    system = [need.name for need in file.needs if need.place == "system"]
    above = [need.name for need in file.needs if need.place == "SDK" and need.path not in below]
    bundled = [need.name for need in file.needs if need.place in _BESIDE]
    absent = [_absent(need) for need in file.needs if need.place not in (*_WITH_IT, "system")]
    parts = [f"MISSING: {', '.join(absent)}"] if absent else []
    parts += [f"above: {named(above)}"] if above else []
    parts += [f"beside it: {named(bundled)}"] if bundled else []
    parts += [f"from the system: {named(system)}"] if system else []
    return "; ".join(parts) or ("needs what is below it" if file.needs else "needs no library")


def _absent(need: "HostNeed") -> str:
    return f"{need.name} (there is {os.path.basename(need.path)})" if need.path is not None else need.name
