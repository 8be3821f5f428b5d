"""The process in which the files of a subject load: alone, one that has called rocm_sdk, or `rocm-sdk run`.

The C library works out what the dynamic linker would do (csrc/binding/link_trial.c), for one process after the other.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from rocm_sdk import _native
from rocm_sdk.installed.catalog import rows_of
from rocm_sdk.installed.library_directories import is_private, led_on, open_directories, packages_of
from rocm_sdk.installed.other_distributions import files_beside

from .parts import judged_elsewhere
from .variants import Variants, check_files, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import HostFile, HostFiles

    from .subject import Against, Subject


class Loading(NamedTuple):
    """The process in which files load.

    unfound are the names that the linker does not find without help; () if it finds all. The others say what helps.
    shortnames: rocm_sdk has loaded them (is_for_files: preload_for has, as some have no shortname); None: that does not
    help. is_run: `rocm-sdk run` helps. directories: they are in LD_LIBRARY_PATH. before: files that other code opens
    first, as a package does with its own.
    """

    unfound: tuple[str, ...] = ()
    shortnames: tuple[str, ...] | None = None
    is_for_files: bool = False
    is_run: bool = False
    directories: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    def as_document(self) -> dict[str, object]:
        """Return the facts for programs, as docs/check-before.md describes them."""
        return {
            "unfound_alone": self.unfound,
            "shortnames": self.shortnames,
            "preload_for": self.is_for_files,
            "run": self.is_run,
            "directories": self.directories,
            "opened_before": self.before,
        }

    @property
    def is_aided(self) -> bool:
        """True if a file needs more than itself."""
        return self.is_run or self.shortnames is not None or bool(self.directories or self.before)


_NOWHERE = ("nowhere", "other release")
_NAMED = 4  # shortnames and libraries that a line names


def process_words(loading: Loading) -> str:
    """Return words for the process that files need, to follow "loads"; "" if they load by themselves.

    If a call of rocm_sdk helps, `rocm-sdk run` is not mentioned: modules are imported, programs are run.
    """
    ways = []
    if loading.shortnames is not None:
        names = _listed(loading.shortnames) if loading.shortnames and not loading.is_for_files else "preload_for"
        ways.append(f"in a process that has called rocm_sdk ({names})")
    elif loading.is_run:
        ways.append("in `rocm-sdk run`")
    if loading.directories:
        ways.append(f"with LD_LIBRARY_PATH={':'.join(loading.directories)}")
    words = ", or ".join(ways)
    if loading.before:
        words += (
            f"{', and ' if words else ''}once other code has opened {_listed(map(os.path.basename, loading.before))}"
        )
    return words


def _listed(names: Iterable[str]) -> str:
    names = tuple(names)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


class Tried(NamedTuple):
    """The findings: the rows of the files, each of the process that serves it best, and the facts about all of them."""

    files: tuple[HostFile, ...]
    analysis: HostFiles
    variants: Variants
    loading: Loading


def try_files(subject: Subject, against: Against) -> Tried:
    """Try the subject's files in one kind of process after the other, until all load. Return the findings."""
    installed = against.installed is not None
    directories = sdk_directories(against)
    place: dict[str, Any] = {"unpacked": subject.root, "site": _site(against)} if subject.root is not None else {}
    place["python"] = subject.distribution != ""
    analysis, variants = check_files(
        subject.files, against.libraries, against.version, directories=directories, installed=installed, **place
    )
    if subject.kind == "file" and any(each.place in _NOWHERE for file in analysis.files for each in file.unfound):
        place["beside"] = files_beside(subject.files[0]) or ()
        analysis = _native.check_host_files(
            subject.files, against.libraries, directories=directories, installed=installed, **place
        )
    rows = {file.path: file for file in analysis.files}
    served, further = _for_programs(analysis, against, directories)
    rows |= served
    brought, parts = judged_elsewhere(subject, rows)
    unfound = {path: {each.name for each in row.unfound} for path, row in rows.items()}
    rows = {path: row for path, row in rows.items() if path not in brought | parts}
    lacking = set[str]().union(*(unfound[path] for path in rows))  # what the others lack is reported for these
    told = sorted(os.path.basename(each) for each in parts if not unfound[each] or unfound[each] - lacking)
    if told:
        verb, them = ("does", "it") if len(told) == 1 else ("do", "them")
        note = f"{_listed(told)} {verb} not load, and nothing in the package names {them}"
        variants = variants._replace(notes=(*variants.notes, note))
    loading = _loading_of(tuple(rows.values()), analysis.preloaded, against, (*directories, *further))
    if subject.kind in ("wheel", "distribution"):
        before = _opened_before(rows, against, place)
        rows |= before.rows
        loading = loading._replace(before=before.names)
    return Tried(tuple(rows.values()), analysis, variants, loading)


def sdk_directories(against: Against) -> tuple[str, ...]:
    """Return the directories of the SDK's libraries, where `rocm-sdk run` lets the linker look for any program."""
    installed = against.installed
    if installed is not None and installed.fallback is None and installed.prefix is None:
        return tuple(open_directories(packages_of(installed)))
    directories = dict.fromkeys(map(os.path.dirname, against.libraries))
    roots = installed.directories if installed is not None else {each.partition("/lib/")[0] for each in directories}
    return tuple(each for each in directories if not any(is_private(each, root) for root in roots))


def _for_programs(
    analysis: HostFiles, against: Against, directories: tuple[str, ...]
) -> tuple[dict[str, HostFile], tuple[str, ...]]:
    """Return the rows of programs for which `rocm-sdk run` adds further directories of the SDK, and these."""
    rows: dict[str, HostFile] = {}
    further: dict[str, None] = {}
    for file in analysis.files if against.installed is not None else ():
        if file.is_program and file.fault is None and any(each.place == "SDK" for each in file.unfound):
            row, of_it = led_on(file.path, directories, against.libraries)
            further |= dict.fromkeys(of_it)
            if row is not None and len(row.unfound) < len(row.unfound_alone):
                rows[row.path] = row
    return rows, tuple(further)


def _site(against: Against) -> str:
    from rocm_sdk.installed.installer import own_site

    return against.installed.site if against.installed is not None else own_site()


def _loading_of(
    files: tuple[HostFile, ...], preloaded: tuple[str, ...], against: Against, directories: tuple[str, ...]
) -> Loading:
    """Return the process that files need if they do not load by themselves."""
    served = [file for file in files if file.by_shortnames or file.by_files or file.by_run]
    unfound = tuple(dict.fromkeys(name for file in files for name in file.unfound_alone))
    is_run = bool(served) and all(file.by_run for file in served)
    if against.installed is None:
        used = dict.fromkeys(each for file in served for each in file.directories)
        order = dict.fromkeys((*directories, *used))
        return Loading(unfound, directories=tuple(each for each in order if is_run and each in used))
    libraries = [file for file in served if not file.is_program]
    if is_run and len(libraries) < len(served):  # a call comes too late for a program
        return Loading(unfound, is_run=True)
    names = tuple(rows[0][0] for path in preloaded if (rows := rows_of(os.path.basename(path))))
    if libraries and all(file.by_shortnames for file in libraries):
        return Loading(unfound, names, is_run=is_run)
    if libraries and all(file.by_shortnames or file.by_files for file in libraries):
        return Loading(unfound, (), is_for_files=True, is_run=is_run)
    return Loading(unfound, is_run=is_run)


class _Before(NamedTuple):
    """The files that a package's own code opens first, and the rows of files that then load."""

    names: tuple[str, ...]
    rows: dict[str, HostFile]


def _opened_before(rows: dict[str, HostFile], against: Against, place: dict[str, Any]) -> _Before:
    """Try again with files that other code opens first. Return these, and the rows of files that then load.

    The files are of the package itself, or of another package. A program is the first thing in its process.
    """
    failing = {path: file for path, file in rows.items() if not (file.fault or file.is_program) and file.unfound}
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    for each in (each for file in failing.values() for each in file.unfound):
        if each.place == "bundled" and each.path is not None:
            own[each.name] = each.path
        elif (path := _of_other_distributions(each.name)) is not None:
            others[each.name] = path
    if not own and not others:
        return _Before((), {})
    asked = (*failing, *others.values())
    found = _native.check_host_files(
        asked,
        against.libraries,
        loaded=(*own.values(), *others.values()),
        beside=tuple(path for path in rows if path not in failing),
        directories=sdk_directories(against),
        installed=against.installed is not None,
        **place,
    )
    again = {file.path: file for file in found.files}
    if not all(loads(again[path]) for path in others.values() if path in again):
        return _Before((), {})
    helped = {path: row for path, row in again.items() if len(row.unfound) < len(failing.get(path, row).unfound)}
    return _Before((*own.values(), *others.values()) if helped else (), helped)


def _of_other_distributions(name: str) -> str | None:
    """Return where another package of this environment has a library; None if none has.

    The places are the package's `lib`, and the directory that auditwheel adds beside it.
    """
    import glob

    from rocm_sdk.installed.installer import own_site

    site, name = glob.escape(own_site()), glob.escape(name)
    return next((path for each in ("*/lib", "*.libs") for path in sorted(glob.glob(f"{site}/{each}/{name}"))), None)
