"""One problem for one thing that is wrong: what follows from another problem is folded under it.

Checks report the problem behind a failure, not the failure: a library that cannot be loaded for want of a file reports
the missing file. So problems that are about the same thing have one code and one path, and become one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rocm_sdk.base.value_text import one_line
from rocm_sdk.installed.shared_objects import library_name
from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.alike import EXAMPLES, one_of_many

from .recorder import Recorder

_MANY = 3  # problems with one code and one fix that are reported one by one

# Code of a problem that stands for many -> their code.
MADE_OF: Mapping[str, str] = {"E-FILE-008": "E-FILE-001"}

# Codes about one file, the most specific first: a damaged library has the wrong size too.
_OF_ONE_FILE = (
    "E-FILE-001",
    "E-FILE-004",
    "E-FILE-005",
    "E-FILE-006",
    "E-LIB-012",
    "E-LIB-022",
    "E-LIB-006",
    "W-LIB-010",
    "E-LIB-001",
    "E-LIB-004",
    "E-LIB-015",
    "E-LIB-018",
    "E-LIB-020",
    "E-PKG-013",
    "E-PKG-016",
    "E-API-003",
    "E-API-005",
    "E-TOOL-002",
    "E-TOOL-001",
    "E-DEVEL-003",
    "E-DEVEL-002",
    "E-FILE-002",
    "E-FILE-003",
)

# Code of a problem of a package -> codes of problems that follow from it, and are dropped.
_SWALLOWS = {
    "E-PKG-003": frozenset({"E-FILE-001"}),  # the __init__.py of the directory
    "E-PKG-001": frozenset({"E-LIB-003"}),  # the core package
    "E-PKG-011": frozenset({"E-PKG-001", "E-LIB-003"}),
    "E-PKG-017": frozenset({"E-LIB-003"}),
    "E-PKG-013": frozenset({"W-PKG-007", "W-PKG-019"}),  # without its RECORD nobody owns the files
    "E-PKG-022": frozenset(  # files of two states
        {"E-FILE-001", "E-FILE-002", "E-FILE-003", "E-PKG-002", "E-PKG-013", "W-PKG-007", "W-PKG-019", "E-TOOL-002"}
    ),
}

# Codes of what the system lacks, whichever library needs it -> the fact that names what is missing.
_OF_SYSTEM = {"E-LIB-002": "name", "E-LIB-005": "wanted", "E-PREFIX-005": "name"}

_OF_ENDING = frozenset({"E-LIB-007", "E-LIB-008", "E-LIB-009"})

# Obstacles that several GPUs can share: one problem names all of these GPUs.
_OF_GPUS = frozenset({"W-GPU-018", "W-GPU-019"})


def grouped(recorders: Sequence[Recorder]) -> list[Problem]:
    """The problems of all subjects, errors first, each once and with all that it breaks."""
    merged: dict[tuple[str, ...], Problem] = {}
    for each in (found for recorder in recorders for found in recorder.problems):
        key = _identity(each)
        known = merged.get(key)
        merged[key] = each if known is None else _merge(known, each)
    problems = _fold_packages(_fold_crashes(_fold_files(list(merged.values()))))
    severities = ("error", "warning", "note")
    return sorted(
        one_of_many(_fold_missing(problems, recorders), _limit), key=lambda found: severities.index(found.severity)
    )


def _limit(code: str) -> int:
    """How many problems with one code and one fix are reported one by one. Those of the tree have one cause."""
    return 1 if code == "E-DEVEL-002" else _MANY


def _identity(found: Problem) -> tuple[str, ...]:
    """What two reports of one thing have in common."""
    if found.code in _OF_GPUS or found.code == "E-PKG-017":
        return (found.code,)
    if found.code in _OF_SYSTEM:
        return (found.code, found.facts.get(_OF_SYSTEM[found.code], ""))
    if found.path is not None and found.code.startswith(("E-FILE-", "E-LIB-", "E-PKG-013")):
        return (found.code, os.path.realpath(found.path), found.facts.get("name", ""))
    return (found.code, found.path or "", found.title, found.cause)


def _merge(known: Problem, found: Problem) -> Problem:
    breaks = tuple(dict.fromkeys((*known.breaks, *found.breaks)))
    if known.code == "E-PKG-017":
        also = f"{found.facts['distribution']} {found.facts['version']}"
        return known._replace(title=f"{known.title}; so is {also}", breaks=breaks)
    return known._replace(breaks=breaks)


def _fold_files(problems: list[Problem]) -> list[Problem]:
    """Of several problems of one file, keeps the most specific."""
    best: dict[str, Problem] = {}
    for found in problems:
        if found.code in _OF_ONE_FILE and found.path is not None:
            place = _place(found)
            best[place] = min(best.get(place, found), found, key=lambda each: _OF_ONE_FILE.index(each.code))
    breaks: dict[str, list[str]] = {}
    kept = []
    for found in problems:
        place = _place(found)
        if found.code not in _OF_ONE_FILE or best.get(place) is None or best[place] is found:
            kept.append(found)
        else:
            breaks.setdefault(place, []).extend((*found.breaks, f"check {found.code}: {found.title}"))
    return [
        found._replace(breaks=(*found.breaks, *breaks[_place(found)]))
        if best.get(_place(found)) is found and _place(found) in breaks
        else found
        for found in kept
    ]


def _place(found: Problem) -> str:
    """The file that a problem is about: of a tool that does not start, the program behind it."""
    return os.path.normpath(found.facts.get("program", found.path or ""))


def _fold_packages(problems: list[Problem]) -> list[Problem]:
    """Drops the problems that follow from a problem of a package."""
    swallowing = [found for found in problems if found.code in _SWALLOWS]
    return [found for found in problems if not any(_swallows(each, found) for each in swallowing)]


def _swallows(swallowing: Problem, found: Problem) -> bool:
    if found.code not in _SWALLOWS[swallowing.code]:
        return False
    if swallowing.code == "E-PKG-003":
        return found.path == os.path.join(str(swallowing.path), "__init__.py")
    return True


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


def _fold_missing(problems: Sequence[Problem], recorders: Sequence[Recorder]) -> list[Problem]:
    """Many missing files of one distribution are one problem, with a count and examples."""
    missing: dict[str, list[Problem]] = {}
    for found in problems:
        if found.code == "E-FILE-001":
            missing.setdefault(found.facts.get("distribution", ""), []).append(found)
    many = {name: files for name, files in missing.items() if name and len(files) > _MANY}
    rest = [found for found in problems if found.code != "E-FILE-001" or found.facts.get("distribution") not in many]
    return [*(_one_of(files, recorders[0]) for files in many.values()), *rest]


def _one_of(files: list[Problem], recorder: Recorder) -> Problem:
    """recorder: any of one installation."""
    files = sorted(files, key=lambda found: str(found.path))
    first = files[0]
    names = ", ".join(found.facts["name"] for found in files[:EXAMPLES])
    facts = {name: first.facts[name] for name in ("distribution", "version", "requirement") if name in first.facts}
    directory = os.path.commonpath([str(found.path) for found in files])
    shown = {"count": f"{len(files):,}", "examples": one_line(f"{names} ...")}
    whole = problem("E-FILE-008", directory, recorder.site, recorder.known, **shown, **facts)
    return whole._replace(breaks=tuple(dict.fromkeys(each for found in files for each in found.breaks)))
