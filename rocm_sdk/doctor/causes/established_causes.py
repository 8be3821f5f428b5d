"""The search for the causes of what the subjects have seen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rocm_sdk.base.files import is_below
from rocm_sdk.base.shadow import stale_code_of
from rocm_sdk.base.value_text import one_line, quoted_for_shell
from rocm_sdk.doctor.file_faults import no_file
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.second_run import Wanted, seen_again
from rocm_sdk.doctor.surroundings import DIRECTORY, ENTRY, Child, Surroundings, Suspect, suspects
from rocm_sdk.doctor.surroundings import VARIABLE as SET
from rocm_sdk.fit.comgr_places import temporary_variable
from rocm_sdk.installed.shared_objects import library_name
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem
from rocm_sdk.problems.cause_table import BELOW, CHILD, COMPARED, VARIABLE, codes_of, explains, how_of

from .culprits import Clock, Outcome, tried
from .obstacles import (
    OF_DIRECTORIES,
    Limit,
    Refusal,
    file_on_the_way_to,
    limit_behind,
    missing_devices,
    other_temporary_directory,
    refusal_on_the_way_to,
    temporary_file_refusal,
)
from .problem_groups import grouped, rank
from .recorded_files import Files

_REPORT = "rocm-report.zip"
_OF_TEST = "E-TEST-001"  # a subject itself failed
_HANGS = "E-LIB-008"
_UNKNOWN = "; the cause is not known: {}"


def problems_of(installation: Installed, recorders: Sequence[Recorder], options: Options) -> list[Problem]:
    """Return the problems behind what the subjects have seen, errors first, each once and with all that it breaks."""
    _Search(installation, recorders, options).explain()
    return grouped(recorders)


class _Search:
    """The search for the causes of programs that failed; it replaces the explained problems in the recorders."""

    def __init__(self, installation: Installed, recorders: Sequence[Recorder], options: Options) -> None:
        self._installation = installation
        self._recorders = recorders
        self._files = Files(installation, deep=options.deep)
        of_files = codes_of(CHILD)  # a refusal because a file is missing is explained
        self._waiting = [
            (found, child)
            for recorder in recorders
            for found, child in recorder.children
            if found.code not in of_files or self._is_of_another_place(found)
        ]

    def explain(self) -> None:
        """Explain the problems. The cheapest ways to establish a cause come first."""
        self._by_permissions()
        self._by_files_in_the_way()
        if not self._waiting:
            return
        self._by_known_faults()
        self._by_temporary_files()
        outcomes = self._by_surroundings() if self._waiting else {}
        self._by_contents()
        self._by_looking()
        known = list(self._problems())
        for found, child in (pair for pair in self._waiting if pair[0] in known):
            self._say_what_is_known(found, child, outcomes.get(child, Outcome()))

    def _is_of_another_place(self, found: Problem) -> bool:
        """Return whether a damaged file is not part of the SDK: a variable may lead to it."""
        is_damaged = found.code in {"E-LIB-006", "E-LIB-012"} and found.path is not None
        return is_damaged and not self._installation.has(os.path.realpath(str(found.path)))

    # ---- ways

    def _by_known_faults(self) -> None:
        """Explain by files that the subjects have found damaged or missing."""
        faults: dict[str, Problem] = {}
        for each in sorted(self._problems(), key=rank):
            if each.code in codes_of(CHILD) and each.path is not None:
                faults.setdefault(os.path.realpath(each.path), each)
                faults.setdefault(os.path.basename(each.path), each)
        possible = []
        for found, child in self._waiting:
            needed = self._files.needed_by(child.files)
            causes = [faults[place] for place in needed if place in faults and _is_behind(faults[place], found)]
            possible.append((found, child, causes))
        self._establish_most(possible)

    def _by_permissions(self) -> None:
        """Explain by files and directories that this user may not read, with the problems of files below them."""
        refusals: dict[str, tuple[Refusal, Problem, Recorder]] = {}
        of_permissions = explains("E-FILE-007", BELOW) | {"E-FILE-007"}
        for found in list(self._problems()):
            place = found.facts.get("program", found.path)
            refusal = refusal_on_the_way_to(place) if found.code in of_permissions and place is not None else None
            if refusal is not None and found.facts.get("owner") is None:
                refusals.setdefault(refusal.path, (refusal, found, self._recorder_of(found)))
        causes: list[Problem] = []
        for path in sorted(refusals, key=len, reverse=True):  # a directory in another refused one comes first
            refusal, found, recorder = refusals[path]
            facts = {**refusal.facts, "distribution": found.facts.get("distribution")}
            cause = problem("E-FILE-007", path, recorder.site, recorder.known, **facts)
            others = [each for each in self._problems() if each.code == "E-FILE-007" and each not in causes]
            below = [each for each in others if is_below(str(each.path), path)]
            breaks = tuple(name for each in below for name in each.breaks)
            causes.append(cause._replace(breaks=_together((), breaks)))
            recorder.problems.append(causes[-1])
            for each in below:
                self._replace(each, None)

    def _by_files_in_the_way(self) -> None:
        """Explain by files that are where directories should be."""
        missing = [found for found in self._problems() if found.code == "E-FILE-001"]
        blocked: dict[str, Problem] = {}
        for found in missing:
            if found.path is not None and (place := file_on_the_way_to(found.path)) is not None:
                blocked.setdefault(place, found)
        for place, found in blocked.items():
            recorder = self._recorder_of(found)
            owner = {name: found.facts.get(name) for name in ("distribution", "version", "requirement")}
            what = f"a link to {os.readlink(place)}, which is not there" if os.path.islink(place) else "a file"
            code, facts = no_file(place, f"{what}, and RECORD lists files in it")
            recorder.add(problem(code, place, recorder.site, recorder.known, kind="directory", **owner, **facts))

    def _by_surroundings(self) -> dict[Child, Outcome]:
        """Explain by the surroundings that programs get from this process.

        Return the outcome of the tries of each child.
        """
        waiting = self._waiting
        clock = Clock()
        outcomes = tried((child for _, child in waiting), suspects(), clock)
        groups = dict.fromkeys(group for outcome in outcomes.values() for group in outcome.culprits)
        for group in groups:
            members = [(found, child) for found, child in waiting if group in outcomes.get(child, Outcome()).culprits]
            if any(found.code == _OF_TEST for found, _ in members):  # then this process cannot run programs as usual
                others = [pair for pair in self._waiting if pair not in members]
                members += self._gone_without(group, others, clock)
            self._establish(_of_suspects(group, members, self._recorders[0]), members)
            self._drop_of_variables(group)
        return outcomes

    def _by_temporary_files(self) -> None:
        """Explain failed compilers by the variable that leads their temporary files nowhere; it is only read."""
        name = temporary_variable()
        members = [pair for pair in self._waiting if pair[0].code == "E-API-005" or "temporary file" in _said(pair[0])]
        refused = temporary_file_refusal() if name is not None and members else None
        if name is None or refused is None or refused[1].errno not in OF_DIRECTORIES or not other_temporary_directory():
            return
        suspect = Suspect(SET, name, refused[0])
        how = f"writes temporary files where {name}={refused[0]} leads ({refused[1].strerror})"
        self._establish(_of_suspects((suspect,), members, self._recorders[0], how), members)
        self._drop_of_variables((suspect,))

    def _gone_without(
        self, group: Sequence[Suspect], pairs: Sequence[tuple[Problem, Child]], clock: Clock
    ) -> list[tuple[Problem, Child]]:
        """Return the problems that a process that is started without suspects does not see."""
        subjects = {self._recorder_of(found).subject: None for found, _ in pairs}
        if not subjects:
            return []
        wanted = Wanted(self._installation.target, tuple(subjects), explains=False)
        seen = seen_again(wanted, Surroundings(group), clock.left)
        if seen is None:
            return []
        return [pair for pair in pairs if (self._recorder_of(pair[0]).subject, pair[0].code, pair[0].title) not in seen]

    def _by_contents(self) -> None:
        """Explain by files whose contents are not as installed."""
        recorder = self._recorders[0]
        known: dict[str, Problem] = {}
        possible = []
        for found, child in self._waiting:
            faults, _ = self._files.compare(self._files.needed_by(child.files))
            for path, (code, more) in faults.items():
                facts = {"name": os.path.basename(path), **self._installation.owner_of(path), **more}
                known.setdefault(path, problem(code, path, recorder.site, recorder.known, **facts))
            possible.append((found, child, [known[path] for path in faults if _is_behind(known[path], found)]))
        self._establish_most(possible)

    def _by_looking(self) -> None:
        """Explain by code of another source, hard limits, temporary files, and devices that the system lacks."""
        self._by_stale_code()
        self._by_linked_directories()
        for found, child in self._waiting:
            self._look(found, child)
        at_limit: dict[Limit, list[tuple[Problem, Child]]] = {}
        for found, child in self._waiting:
            if (limit := limit_behind(_said(found))) is not None:
                at_limit.setdefault(limit, []).append((found, child))
        for limit, members in at_limit.items():
            self._establish_limit(limit, members)
        recorder = self._recorders[0]
        for path, facts in missing_devices() if self._waiting else ():
            members = [(found, child) for found, child in self._waiting if path in _said(found)]
            if members:
                self._establish(problem("E-ENV-012", path, recorder.site, recorder.known, **facts), members)

    def _by_stale_code(self) -> None:
        """Explain failed Python programs by a .pyc that was made from another source."""
        members = [pair for pair in self._waiting if pair[0].code in explains("E-ENV-013", CHILD)]
        stale = map(stale_code_of, self._files.sources if members else ())
        found = next((each for each in stale if each is not None), None)
        if found is not None:
            recorder = self._recorders[0]
            facts = {**found.facts, "detail": members[0][0].cause}
            self._establish(problem("E-ENV-013", found.path, recorder.site, recorder.known, **facts), members)

    def _by_linked_directories(self) -> None:
        """Explain by a package that was moved, with a link in its place.

        The paths of its libraries begin where the link leads to.
        """
        moved: dict[str, list[tuple[Problem, Child]]] = {}
        site = self._installation.site
        for found, child in self._waiting:
            top = os.path.join(site, os.path.relpath(str(found.path), site).partition(os.sep)[0])
            if found.code in explains("E-PKG-004", CHILD) and os.path.islink(top):
                moved.setdefault(top, []).append((found, child))
        recorder = self._recorders[0]
        for top, members in moved.items():
            place = os.path.realpath(top)
            words = [quoted_for_shell(each) for each in (top, place)]
            repair = f"rm {words[0]} && mv {words[1]} {words[0]}"
            facts = {**self._installation.owner_of(str(members[0][0].path)), "other": "what it needs", "repair": repair}
            self._establish(problem("E-PKG-004", place, recorder.site, recorder.known, **facts), members)

    def _look(self, found: Problem, child: Child) -> None:
        """Explain the failure of a compiler by the refusal of temporary files."""
        refused = temporary_file_refusal() if found.code == "E-API-005" else None
        if refused is None:
            return
        place, error = refused
        limit = limit_behind(str(error.strerror))
        if limit is not None:
            self._establish_limit(limit, [(found, child)])
            return
        other = other_temporary_directory()
        facts = {
            "detail": f"no temporary file can be written there: {error.strerror}",
            "repair": f"export TMPDIR={quoted_for_shell(other)}" if other is not None else None,
        }
        recorder = self._recorders[0]
        cause = problem("E-ENV-012", place, recorder.site, recorder.known, **facts)
        self._establish(cause, [(found, child)])

    def _establish_limit(self, limit: Limit, members: Sequence[tuple[Problem, Child]]) -> None:
        recorder = self._recorders[0]
        facts = {**_facts_of(members), "what": limit.what, "variable": limit.name, "value": limit.value}
        self._establish(problem("E-ENV-011", None, recorder.site, recorder.known, **facts), members)

    def _say_what_is_known(self, found: Problem, child: Child, outcome: Outcome) -> None:
        """Say what was compared and tried for a failure that nothing explains.

        Intact packages are not reinstalled.
        """
        if found.code == _HANGS and not found.facts.keys().isdisjoint({"driver", "silent"}):
            return  # the subject has seen that it is the driver, or that there is none
        if not found.facts.keys().isdisjoint({"entry", "conda", "of_system", "bringer"}):
            return  # a library from outside comes first
        faults, is_complete = self._files.compare(self._files.needed_by(child.files))
        is_intact = is_complete and not faults
        said = ["it worked when it ran again"] if outcome.is_unsteady else []
        said += ["the files that it needs are as RECORD says"] if is_intact else []
        said += [outcome.lack] if outcome.lack is not None else []
        if not said:
            return
        facts: dict[str, object] = {**found.facts, "intact": _UNKNOWN.format(", and ".join(said))}
        facts |= {"report": _REPORT} if is_intact else {}
        recorder = self._recorder_of(found)
        told = problem(found.code, found.path, recorder.site, recorder.known, **facts)
        self._replace(found, told._replace(breaks=found.breaks))

    # ---- what they do

    def _problems(self) -> Iterator[Problem]:
        return (found for recorder in self._recorders for found in recorder.problems)

    def _recorder_of(self, found: Problem) -> Recorder:
        return next(recorder for recorder in self._recorders if found in recorder.problems)

    def _replace(self, found: Problem, other: Problem | None) -> None:
        recorder = self._recorder_of(found)
        place = recorder.problems.index(found)
        recorder.problems[place : place + 1] = [other] if other is not None else []

    def _establish_most(self, possible: Sequence[tuple[Problem, Child, Sequence[Problem]]]) -> None:
        """Attribute the failures to the cause that explains most, or to one of several that explain as much.

        possible: the problem of each child, and the faults of files that can be behind it. Each fault is reported.
        """
        explained = Counter(id(cause) for *_, causes in possible for cause in causes)
        by_cause: dict[int, tuple[Problem, list[tuple[Problem, Child]], list[str]]] = {}
        for found, child, causes in possible:
            weights = [(explained[id(cause)], how_of(cause.code, CHILD) == COMPARED) for cause in causes]
            best = [cause for cause, weight in zip(causes, weights, strict=True) if weight == max(weights)]
            paths = list(dict.fromkeys(str(cause.path) for cause in best))
            doubt = f" (by one of: {', '.join(map(os.path.basename, paths))})" if len(paths) > 1 else ""
            for cause in causes:
                _, members, breaks = by_cause.setdefault(id(cause), (cause, [], []))
                members.append((found, child))
                if any(cause is each for each in best):
                    name, *more = _breaks(found, child)
                    breaks += [f"{name}{doubt}", *more]
        for cause, members, breaks in by_cause.values():
            if any(cause is each for each in self._problems()):
                self._replace(cause, None)
            self._report(cause, members, breaks)
        self._remove([pair for _, members, _ in by_cause.values() for pair in members])

    def _establish(self, cause: Problem, members: Sequence[tuple[Problem, Child]]) -> None:
        """Replace the problems that a cause explains with the cause."""
        self._report(cause, members, [name for found, child in members for name in _breaks(found, child)])
        self._remove(members)

    def _report(self, cause: Problem, members: Sequence[tuple[Problem, Child]], breaks: Sequence[str]) -> None:
        recorder = next((each for each in self._recorders if any(found in each.problems for found, _ in members)), None)
        (recorder or self._recorders[0]).problems.append(cause._replace(breaks=_together(cause.breaks, breaks)))

    def _remove(self, members: Sequence[tuple[Problem, Child]]) -> None:
        """Remove the explained problems."""
        for found, _ in members:
            if any(found in each.problems for each in self._recorders):
                self._replace(found, None)
        self._waiting = [pair for pair in self._waiting if pair not in members]

    def _drop_of_variables(self, group: Sequence[Suspect]) -> None:
        """Drop the problems of the environment's subject with the same variables: they follow from the cause."""
        names, values = {each.name for each in group}, {each.value for each in group}
        of_variables = explains("E-ENV-010", VARIABLE)
        for recorder in self._recorders:
            recorder.problems = [
                found
                for found in recorder.problems
                if found.code not in of_variables
                or (found.facts.get("variable") not in names and found.path not in values)
            ]


def _is_behind(fault: Problem, found: Problem) -> bool:
    """Return whether a fault of a file explains a failure that is not a more specific fault of the same file."""
    is_same = found.path is not None and os.path.realpath(found.path) == os.path.realpath(str(fault.path))
    return found.code in explains(fault.code, CHILD) and not (is_same and rank(found) < rank(fault))


def _of_suspects(
    group: Sequence[Suspect], members: Sequence[tuple[Problem, Child]], recorder: Recorder, how: str | None = None
) -> Problem:
    """Return the problem that suspects cause, alone or together. how: in words; None: as tries have shown."""
    what = " and ".join(each.description for each in group) + (" together" if len(group) > 1 else "")
    facts = {
        **_facts_of(members),
        "what": what,
        "how": how or f"works without {what}, and fails with it",
        "variable": group[0].name,
        "removal": group[0].removal,
    }
    path = group[0].value if group[0].kind in {DIRECTORY, ENTRY} else None
    return problem("E-ENV-010", path, recorder.site, recorder.known, **facts)


def _facts_of(members: Sequence[tuple[Problem, Child]]) -> dict[str, object]:
    """Return facts about the programs that fail by a cause."""
    found, child = members[0]
    more = f", and {len(members) - 1:,} more" if len(members) > 1 else None
    detail = f": {found.cause}" if "provider" in found.facts else ""
    return {"name": _name(child), "more": more, "seen": found.title + detail}


def _name(child: Child) -> str:
    return child.title or os.path.basename(child.name)


def _said(found: Problem) -> str:
    return " ".join((found.title, found.cause, *found.facts.values()))


def _breaks(found: Problem, child: Child) -> tuple[str, ...]:
    return (*found.breaks, f"check {found.code}: {found.title}") if found.breaks else (library_name(_name(child)),)


def _together(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *(one_line(each) for each in other))))
