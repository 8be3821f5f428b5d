"""The grouping into one problem for each fault: a problem that follows from another one is folded into it.

Checks report the problem behind a failure, not the failure: if a library cannot be loaded because a file is missing,
they report the file. So problems about the same thing have the same code and path, and become one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from rocm_sdk.base.value_text import one_line, quoted_for_shell
from rocm_sdk.doctor.file_faults import ASIDE
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.shared_objects import library_name
from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.cause_table import LIBRARY, codes_of, explains
from rocm_sdk.problems.examples import EXAMPLES, one_of_many

from .followers import place_of, without_followers

# Files that no RECORD lists, and their directories; metadata that do not match their name.
_OF_STRANGERS = ("W-PKG-019", "E-PKG-024", "E-PKG-013")
_MANY = 3  # problems with one code and one fix that are reported one by one
# Codes whose problems have one cause if they have one fix: a tree, a package that was only partly written.
_OF_ONE_CAUSE = frozenset({"E-DEVEL-002", "E-FILE-002", "E-FILE-003", "E-FILE-006", "E-LIB-006", "E-LIB-012"})

# Codes about one file, the most specific first: a damaged library has the wrong size, too.
_OF_ONE_FILE = (
    *("E-FILE-009", "E-FILE-001", "E-FILE-004", "E-FILE-005", "E-FILE-006", "E-FILE-007", "E-LIB-012", "E-LIB-022"),
    *("E-LIB-006", "E-LIB-001", "E-LIB-004", "E-LIB-015", "E-LIB-018", "E-LIB-020", "E-PKG-013", "E-PKG-016"),
    *("E-DEVEL-003", "E-DEVEL-002", "E-FILE-002", "E-FILE-003", "W-LIB-010", "W-LIB-016", "E-API-001", "E-API-003"),
    *("E-API-005", "E-TOOL-002", "E-TOOL-001"),
)

# Codes about what the system lacks, whichever library needs it -> the fact that names what is missing.
_OF_SYSTEM = {"E-LIB-002": "name", "E-LIB-005": "wanted", "E-LIB-017": "directory", "E-PREFIX-005": "name"}

# Obstacles that several GPUs can share: one problem names all of these GPUs.
_OF_GPUS = frozenset({"W-GPU-018", "W-GPU-019", "N-GPU-037"})


def grouped(recorders: Sequence[Recorder]) -> list[Problem]:
    """Return the problems of all subjects, errors first, each once and with all that it breaks."""
    merged: dict[tuple[str, ...], Problem] = {}
    for each in (found for recorder in recorders for found in recorder.problems):
        key = _identity(each)
        known = merged.get(key)
        merged[key] = each if known is None else _merge(known, each)
    problems = without_followers(_fold_crashes(_fold_files(list(merged.values()))))
    problems = _with_second_names(problems)
    severities = ("error", "warning", "note")
    return sorted(
        one_of_many(_fold_links(without_followers(_fold_missing(problems, recorders)), recorders), _limit),
        key=lambda found: severities.index(found.severity),
    )


def _with_second_names(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems, with fixes that keep libraries and programs whose content differs from RECORD.

    They may be the user's own, and an installer removes every file of its package. If the installation fails, a second
    name has changed nothing.
    """
    own: dict[str, list[str]] = {}
    for found in problems:
        if found.facts.get("aside", "").startswith("ln "):
            own.setdefault(f" {found.facts.get('distribution')}", []).append(found.facts["aside"])
    kept = []
    for found in problems:
        fix = found.fix or "" if found.is_command else ""
        lines = [line for name, each in own.items() if name in fix for line in each]
        kept.append(found._replace(fix=" && ".join([*lines, fix])) if lines else found)
    return kept


def _limit(code: str) -> int:
    """Return how many problems with one code and fix are reported one by one."""
    return 1 if code in _OF_ONE_CAUSE else _MANY


def _identity(found: Problem) -> tuple[str, ...]:
    """Return what two reports about the same thing have in common."""
    if found.code in _OF_GPUS or found.code == "E-PKG-017":
        return (found.code, found.fix or "" if found.code in _OF_GPUS else "")
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


def rank(found: Problem) -> int:
    """Return how specific a problem of a file is; 0 is the most specific."""
    return _OF_ONE_FILE.index(found.code) if found.code in _OF_ONE_FILE else len(_OF_ONE_FILE)


def _fold_files(problems: list[Problem]) -> list[Problem]:
    """Return the problems, but for each file only the most specific one."""
    best: dict[str, Problem] = {}
    for found in problems:
        if found.code in _OF_ONE_FILE and found.path is not None:
            place = place_of(found)
            best[place] = min(best.get(place, found), found, key=rank)
    breaks: dict[str, list[str]] = {}
    kept = []
    for found in problems:
        place = place_of(found)
        if found.code not in _OF_ONE_FILE or best.get(place) is None or best[place] is found:
            kept.append(found)
        else:
            breaks.setdefault(place, []).extend((*found.breaks, f"check {found.code}: {found.title}"))
    return [
        found._replace(breaks=(*found.breaks, *breaks[place_of(found)]))
        if best.get(place_of(found)) is found and place_of(found) in breaks
        else found
        for found in kept
    ]


def _fold_crashes(problems: list[Problem]) -> list[Problem]:
    """Return the problems; preloads that end their process are folded into that of the guilty library.

    The guilty library is the one whose constructor ends the process.
    """
    culprits = {name: found for found in problems if found.code in codes_of(LIBRARY) for name in found.breaks}
    kept, breaks = [], dict[tuple[str, ...], list[str]]()
    for found in problems:
        culprit = culprits.get(library_name(found.path or ""))
        if culprit is None or found.code not in explains(culprit.code, LIBRARY):
            kept.append(found)
        else:
            breaks.setdefault(_identity(culprit), []).extend(found.breaks)
    return [found._replace(breaks=(*found.breaks, *breaks.get(_identity(found), ()))) for found in kept]


def _fold_missing(problems: Sequence[Problem], recorders: Sequence[Recorder]) -> list[Problem]:
    """Return the problems; many missing files of one distribution are one.

    The one problem has a count and examples.
    """
    missing: dict[str, list[Problem]] = {}
    for found in problems:
        if found.code == "E-FILE-001":
            missing.setdefault(found.facts.get("distribution", ""), []).append(found)
    many = {name: files for name, files in missing.items() if name and len(files) > 1}
    rest = [found for found in problems if found.code != "E-FILE-001" or found.facts.get("distribution") not in many]
    strangers = [str(found.path) for found in problems if found.code in _OF_STRANGERS]
    return [*(_one_of(files, strangers, recorders[0]) for files in many.values()), *rest]


def _fold_links(problems: Sequence[Problem], recorders: Sequence[Recorder]) -> list[Problem]:
    """Return the problems; many links of one distribution that lead nowhere are one.

    The target of such links was removed.
    """
    links: dict[str, list[Problem]] = {}
    for found in problems:
        if found.code == "E-FILE-009" and os.path.islink(str(found.path)) and "distribution" in found.facts:
            links.setdefault(found.facts["distribution"], []).append(found)
    many = [each for each in links.values() if len(each) > _MANY]
    folded = {id(found) for each in many for found in each}
    return [
        *(_one_link_of(each, recorders[0]) for each in many),
        *(each for each in problems if id(each) not in folded),
    ]


def _one_link_of(links: list[Problem], recorder: Recorder) -> Problem:
    first = min(links, key=lambda found: str(found.path))
    site = str(recorder.site)
    tops = {os.path.join(site, os.path.relpath(str(found.path), site).partition(os.sep)[0]) for found in links}
    find = f"find {' '.join(quoted_for_shell(top) for top in sorted(tops))}"
    facts = {
        **first.facts,
        "more": f" (and {len(links) - 1:,} more)",
        "aside": f"{find} -xtype l -exec mv {{}} {{}}{ASIDE} ';'",
        "removal": f"{find} -name '*{ASIDE}' -xtype l -delete",
    }
    whole = problem("E-FILE-009", first.path, recorder.site, recorder.known, **facts)
    return whole._replace(breaks=tuple(dict.fromkeys(each for found in links for each in found.breaks)))


def _renamed(directory: str, paths: Sequence[str], strangers: Sequence[str]) -> str | None:
    """Return the directory, of no package, that has all of the files, beside the missing one.

    The result is None if there is none.
    """
    parent = os.path.dirname(directory)
    if os.path.lexists(directory) or not os.path.isdir(parent):
        return None
    names = [os.path.relpath(path, directory) for path in paths]
    beside = [path for path in strangers if path.startswith(f"{parent}/")]
    places = (os.path.join(parent, os.path.relpath(path, parent).partition(os.sep)[0]) for path in beside)
    return next((place for place in places if all(os.path.isfile(os.path.join(place, name)) for name in names)), None)


def _one_of(files: list[Problem], strangers: Sequence[str], recorder: Recorder) -> Problem:
    """Return one problem for many missing files of one distribution.

    strangers: files that no RECORD lists. recorder: any of one installation.
    """
    files = sorted(files, key=lambda found: str(found.path))
    first = files[0]
    names = ", ".join(found.facts["name"] for found in files[:EXAMPLES])
    facts = {name: first.facts[name] for name in ("distribution", "version", "requirement") if name in first.facts}
    directory = os.path.commonpath([str(found.path) for found in files])
    shown = {"count": f"{len(files):,}", "examples": one_line(f"{names} ...")}
    if (moved := _renamed(directory, [str(found.path) for found in files], strangers)) is not None:
        repair = f"mv {quoted_for_shell(moved)} {quoted_for_shell(directory)}"
        shown |= {
            "examples": f"the directory of their name lacks, and {moved} has them all",
            "moved": moved,
            "repair": repair,
        }
    whole = problem("E-FILE-008", directory, recorder.site, recorder.known, **shown, **facts)
    return whole._replace(breaks=tuple(dict.fromkeys(each for found in files for each in found.breaks)))
