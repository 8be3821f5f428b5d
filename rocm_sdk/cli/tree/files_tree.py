"""The files, wheels and installed distributions in the tree.

The tree has their needs and the names that they open, with the libraries of the SDK below them.
"""

import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import rocm_sdk
from rocm_sdk._native import inspect_library
from rocm_sdk.base.scratch import removed_at_signals
from rocm_sdk.fit.code.candidate import CODE_ENDINGS
from rocm_sdk.fit.coverage_words import named
from rocm_sdk.fit.verdicts.judge import Question, against_of
from rocm_sdk.fit.verdicts.names_to_open import opening
from rocm_sdk.fit.verdicts.opened_names import opened_names
from rocm_sdk.fit.verdicts.process_trial import try_files
from rocm_sdk.fit.verdicts.subject import open_subject
from rocm_sdk.installed.catalog import linker_name, rows_of
from rocm_sdk.installed.view import current
from rocm_sdk.terminal.output import complain
from rocm_sdk.terminal.progress import with_progress

from .plan_tree import Branch, File, FileStep, Tree, file_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm_sdk._native import HostFile, HostNeed, Unfound
    from rocm_sdk.fit.verdicts.names_to_open import Opening
    from rocm_sdk.fit.verdicts.opened_names import OpenedName
    from rocm_sdk.fit.verdicts.subject import Subject

    _Below = Callable[[frozenset[str]], tuple[str, ...]]

_BESIDE = ("bundled", "RPATH")  # places of libraries that the package brings itself
_WITH_IT = (*_BESIDE, "SDK")  # places of libraries that come in with a file


def with_files(tree: Tree, words: list[str]) -> tuple[Tree, bool]:
    """Return the tree with the files of these words behind its own, and whether each word has one that can be used.

    Files are read and not loaded. Raises RocmSdkError for a word that stands for nothing.
    """
    against = against_of(Question((), current()))
    below = cache(_brought)  # the loader is asked once for each set of needed libraries
    branches, missing = list(tree.branches), dict.fromkeys(tree.missing)
    seen = set(tree.files)
    all_usable = True
    with removed_at_signals():
        for word in with_progress("reading", words, len(words)):
            with open_subject(word) as subject, subject.refused_by_name():
                files, analysis, _, _ = try_files(subject, against)
                opens = opening(subject, analysis, against.libraries)
                if not files and not opens.names:
                    is_loaded = subject.kind != "file" or word.endswith(CODE_ENDINGS)
                    what = "there is no library and no program in it"
                    complain(f"{word}: {what if is_loaded else 'it is not an ELF file, so no library and no program'}")
                if opens.absent:
                    complain(f"{_opens(word, opens)} {', '.join(opens.absent)} by name, and no package here has it")
                all_usable &= bool(opens.names) or any(file.fault is None for file in files)
                with_version = {
                    linker_name(need.name) for need in analysis.opened if need.name != linker_name(need.name)
                }
                paths = [file.path for file in analysis.files if file.fault is None]
                bare = [name for name in opens.names if not analysis.files and name not in opens.absent]
                found = opened_names(paths, against.libraries, bare, subject.name)
                without = {
                    each.name: each for each in found if each.name in opens.names and each.name not in with_version
                }
                for each in without.values():
                    if each.shortname is None:
                        complain(f"{_opens(word, opens)} {each.name} by name: {each.text}")
                for branch in _branches(subject, files, opens, below, seen, without):
                    seen.update(each.path for each in (branch.file, *branch.brings))
                    branches.append(branch)
                    missing |= dict.fromkeys(branch.step.missing)
    return Tree(tuple(branches), tuple(missing)), all_usable


def _brought(needs: frozenset[str]) -> tuple[str, ...]:
    """Return the files of the SDK that needed libraries bring into a process, the libraries first."""
    paths = sorted(needs)
    steps = rocm_sdk.load_plan(files=paths, new_process=True).steps if paths else ()
    return tuple(dict.fromkeys((*paths, *(path for step in steps for path in (step.path, *step.members)))))


def _branches(  # noqa: PLR0917
    subject: "Subject",
    files: "Iterable[HostFile]",
    opens: "Opening",
    below: "_Below",
    seen: set[str],
    without: "dict[str, OpenedName]",
) -> Iterator[Branch]:
    """Yield the files of a word, then the libraries of the SDK that they open by name. The caller adds to `seen`."""
    for file in files:
        site = current().site
        found = _found(file)
        bundled, led_to = (
            [need.path for need in found if need.place == place and need.path is not None] for place in _BESIDE
        )
        needs = frozenset(str(need.path) for need in found if need.place == "SDK")
        members = tuple(dict.fromkeys((*bundled, *led_to, *below(needs))))
        brings = tuple(_file(subject, path, site) for path in members if path not in seen | {file.path, *bundled})
        own = _file(subject, file.path, site)
        step = FileStep(
            path=own.path,
            soname=file.soname,
            reason=_reason(subject, file, {each.path for each in brings}),
            members=tuple(_file(subject, path, site).path for path in (file.path, *members)),
            needed=tuple(_file(subject, str(need.path), site).path for need in found if need.place in _WITH_IT),
            outside=tuple(need.name for need in found if need.place == "system"),
            missing=tuple(dict.fromkeys(each.name for each in file.unfound)),
        )
        yield Branch(step, own, brings, None)
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


def _opened(reason: str, path: str, below: "_Below", seen: set[str]) -> Branch:
    """Return a library of the SDK that no DT_NEEDED entry names, with the files that no branch before it brings."""
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


def _found(file: "HostFile") -> "list[HostNeed]":
    """Return the needs that the linker finds; a library may lie somewhere, and the linker not look there."""
    unfound = {each.name for each in file.unfound}
    return [need for need in file.needs if need.name not in unfound]


def _file(subject: "Subject", path: str, site: str) -> File:
    """Return a file with the user's name of it; a file in a wheel lies below the wheel."""
    found = file_at(path, site)
    if subject.root is None or not path.startswith(f"{subject.root}/"):
        return found._replace(location=os.path.normpath(found.location))
    return found._replace(path=subject.shown(path), location=path.removeprefix(f"{subject.root}/"))


def _reason(subject: "Subject", file: "HostFile", below: set[str]) -> str:
    """Return the needs of a file that are not below it."""
    if file.fault is not None:
        return subject.shown(file.fault)
    found = _found(file)
    system = [need.name for need in found if need.place == "system"]
    above = [need.name for need in found if need.place == "SDK" and need.path not in below]
    bundled = [need.name for need in found if need.place in _BESIDE]
    absent = [_absent(subject, file, each) for each in file.unfound]
    parts = [f"MISSING: {', '.join(absent)}"] if absent else []
    parts += [f"above: {named(above)}"] if above else []
    parts += [f"beside it: {named(bundled)}"] if bundled else []
    parts += [f"from the system: {named(system)}"] if system else []
    return "; ".join(parts) or ("needs what is below it" if file.needs else "needs no library")


def _absent(subject: "Subject", file: "HostFile", each: "Unfound") -> str:
    """Return a library that the linker does not find, who needs it, and what there is in its place."""
    by = f", which {os.path.basename(each.needing)} needs" if each.needing != file.path else ""
    if each.fault is not None:
        return f"{each.name}{by}: {subject.shown(each.fault)}"
    if each.path is None:
        return f"{each.name}{by}"
    is_unreached = each.place in {"bundled", "SDK", "RPATH", "system", "beside"}
    there = (
        f"{subject.shown(each.path)} is not where the linker looks"
        if is_unreached
        else f"there is {os.path.basename(each.path)}"
    )
    return f"{each.name}{by} ({there})"
