"""One problem for one thing that is wrong: what follows from another problem is folded under it.

Checks report the problem behind a failure, not the failure: a library that cannot be loaded for want of a file reports
the missing file. So problems that are about the same thing have one code and one path, and become one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.text import one_line

from .recorder import Recorder
from .shared_objects import library_name

_MANY = 3  # missing files of a distribution that are told one by one
_EXAMPLES = 3

# Codes that say of a file what loading it says better: a damaged library has also another size.
_OF_CONTENT = frozenset({"E-FILE-002", "E-FILE-003"})
_OF_USE = frozenset({"E-FILE-006", "E-LIB-006", "E-LIB-012", "E-PKG-013"})

# What the system lacks, whichever library needs it: the fact that says what it is.
_OF_SYSTEM = {"E-LIB-002": "name", "E-LIB-005": "wanted"}

_OF_ENDING = frozenset({"E-LIB-007", "E-LIB-008", "E-LIB-009"})

# Obstacles that several GPUs have alike: one problem names all.
_OF_GPUS = frozenset({"W-GPU-018", "W-GPU-019"})


def grouped(recorders: Iterable[Recorder]) -> list[Problem]:
    """The problems of all subjects, errors first, each once and with all that it breaks."""
    merged: dict[tuple[str, ...], Problem] = {}
    for found in (found for recorder in recorders for found in recorder.problems):
        key = _identity(found)
        known = merged.get(key)
        merged[key] = found if known is None else _merge(known, found)
    problems = _fold_crashes(_fold_files(list(merged.values())))
    severities = ("error", "warning", "note")
    return sorted(_fold_missing(problems), key=lambda found: severities.index(found.severity))


def _identity(found: Problem) -> tuple[str, ...]:
    """What two reports of one thing have in common."""
    if found.code in _OF_GPUS:
        return (found.code,)
    if found.code in _OF_SYSTEM:
        return (found.code, found.facts.get(_OF_SYSTEM[found.code], ""))
    if found.path is not None and found.code.startswith(("E-FILE-", "E-LIB-", "E-PKG-013")):
        return (found.code, os.path.realpath(found.path), found.facts.get("name", ""))
    return (found.code, found.path or "", found.title, found.cause)


def _merge(known: Problem, found: Problem) -> Problem:
    breaks = tuple(dict.fromkeys((*known.breaks, *found.breaks)))
    if known.code in _OF_GPUS and known.cause != found.cause:
        return known._replace(cause=f"{known.cause}; {found.cause}", breaks=breaks)
    return known._replace(breaks=breaks)


def _fold_files(problems: list[Problem]) -> list[Problem]:
    """A file of another size or content whose use fails is one problem: that of its use."""
    used = {found.path: found for found in problems if found.code in _OF_USE and found.path is not None}
    changed = {found.path for found in problems if found.code in _OF_CONTENT}
    kept = [found for found in problems if not (found.code in _OF_CONTENT and found.path in used)]
    return [
        found._replace(breaks=(*found.breaks, "check files: its size and content"))
        if found.code in _OF_USE and found.path in changed
        else found
        for found in kept
    ]


def _fold_crashes(problems: list[Problem]) -> list[Problem]:
    """A preload that ends its process follows from the library whose constructor does so."""
    culprits = {name: found for found in problems if found.code in _OF_ENDING for name in found.breaks}
    kept, breaks = [], dict[tuple[str, ...], list[str]]()
    for found in problems:
        culprit = culprits.get(library_name(found.path or "")) if found.code == "E-API-002" else None
        if culprit is None:
            kept.append(found)
        else:
            breaks.setdefault(_identity(culprit), []).extend(found.breaks)
    return [found._replace(breaks=(*found.breaks, *breaks.get(_identity(found), ()))) for found in kept]


def _fold_missing(problems: Sequence[Problem]) -> list[Problem]:
    """Many missing files of one distribution are one problem, with a count and examples."""
    missing: dict[str, list[Problem]] = {}
    for found in problems:
        if found.code == "E-FILE-001":
            missing.setdefault(found.facts.get("distribution", ""), []).append(found)
    many = {name: files for name, files in missing.items() if name and len(files) > _MANY}
    rest = [found for found in problems if found.code != "E-FILE-001" or found.facts.get("distribution") not in many]
    return [*(_one_of(files) for files in many.values()), *rest]


def _one_of(files: list[Problem]) -> Problem:
    files = sorted(files, key=lambda found: str(found.path))
    first = files[0]
    names = ", ".join(found.facts["name"] for found in files[:_EXAMPLES])
    facts = {name: first.facts[name] for name in ("distribution", "version", "requirement") if name in first.facts}
    directory = os.path.commonpath([str(found.path) for found in files])
    whole = problem("E-FILE-008", directory, count=f"{len(files):,}", examples=one_line(f"{names} ..."), **facts)
    return whole._replace(breaks=tuple(dict.fromkeys(each for found in files for each in found.breaks)))
