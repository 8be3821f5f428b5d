"""The subject `libraries`: the shared objects are sound, and each can be loaded."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocm_sdk import _native
from rocm_sdk.base.glibc import glibc_version, numbers_of
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.doctor.children import signal_name
from rocm_sdk.doctor.file_faults import KINDS, no_file
from rocm_sdk.doctor.gpu_driver import facts_of_hang
from rocm_sdk.doctor.load_results import load_all, search_path
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.fit.code.note import NOTE_SECTION, describe_history, read_history
from rocm_sdk.fit.verdicts.opened_names import of_objects
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.shared_objects import SharedObject, library_name
from rocm_sdk.installed.view import Installed

from .library_table import reason_not_loaded_alone
from .load_failure import LoadFailures

if TYPE_CHECKING:
    from rocm_sdk._native import Code


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check the files, and load the sound ones, each in a separate process."""
    objects = installation.shared_objects
    if not installation.is_current and objects and all(_is_foreign(each) for each in objects):
        recorder.say("N-LIB-021", installation.site, detail=_fault_of(objects[0]))
        return
    _check_names(installation, objects, recorder)
    of_compilers = [
        each
        for each in objects
        if installation.prefix is not None and _is_foreign(each) and reason_not_loaded_alone(each.name) is not None
    ]
    for each in of_compilers:
        recorder.skip(f"{each.name}: for another machine, for which a compiler links it")
    sound = [each for each in objects if each not in of_compilers and _check_file(installation, each, recorder)]
    loadable = []
    for each in sound:
        reason = reason_not_loaded_alone(each.name)
        fifo = installation.needed_libraries.fifo_below(each.path)
        if reason is not None:
            recorder.skip(f"{each.name}: {reason}")
        elif fifo is not None:
            code, more = no_file(fifo, KINDS[stat.S_IFIFO])
            facts = {**installation.owner_of(fifo), "name": os.path.basename(fifo), **more}
            recorder.bad(code, fifo, library_name(each.path), **facts)
        else:
            loadable.append(each)
    _load(installation, objects, loadable, recorder, options)
    recorder.problems += [each.as_problem(each.opener) for each in of_objects(sound)]


def owed(installation: Installed) -> str | None:
    """Return the untested part of an installation, if nothing was tested; None if there is none."""
    listed = [path for path, owner in installation.owners.items() if owner.has_sdk_files]
    paths = [path for path in listed if ".so" in os.path.basename(path) and "_devel/" not in path]
    present = [path for path in paths if os.path.exists(os.path.join(installation.site, path))]
    return f"there are {len(present):,} libraries, and none was loaded" if present else None


# ---- files


def _check_file(installation: Installed, each: SharedObject, recorder: Recorder) -> bool:
    """Return whether a library can be loaded, judging by its file."""
    facts = installation.owner_of(each.path) | {"library": each.name}
    if (fault := _fault_of(each)) is not None or each.facts is None:
        recorder.bad(_code_of(each), each.path, library_name(each.path), detail=fault, **facts)
        return False
    if each.facts.text_relocations:
        recorder.say("W-LIB-013", each.path, **facts)
    if each.facts.executable_stack:
        recorder.say("N-LIB-014", each.path, **facts)
    if any(section.name == NOTE_SECTION for section in each.facts.sections):
        text = _native.device_code(each.path).history
        if text is not None:
            history = read_history(text)
            code: Code = "W-CODE-016" if history is not None and history.is_unofficial else "N-CODE-015"
            recorder.say(code, each.path, detail=describe_history(history), **facts)
    _check_search_path(installation, each, recorder)
    present = glibc_version()
    wanted = each.facts.newest_glibc if each.facts else None
    if not present or wanted is None or numbers_of(wanted) <= numbers_of(present):
        return True
    versions = {"library": each.name, "wanted": wanted, "present": present}
    recorder.bad("E-LIB-005", each.path, library_name(each.path), **versions)
    return False


def _renaming(installation: Installed, path: str, wanted: str) -> str | None:
    """Return the command that renames a file of no package to what a package lists; None if it is another case."""
    listed = [os.path.relpath(each, installation.site) in installation.owners for each in (path, wanted)]
    return f"mv {quoted_for_shell(path)} {quoted_for_shell(wanted)}" if listed == [False, True] else None


def _damages_of(each: SharedObject) -> tuple[_native.Damage, ...]:
    return each.facts.damages if each.facts is not None else ()


def _fault_of(each: SharedObject) -> str | None:
    return each.fault or "; ".join(damage.message for damage in _damages_of(each)) or None


def _is_foreign(each: SharedObject) -> bool:
    return _code_of(each) == "E-LIB-012"


def _code_of(each: SharedObject) -> Code:
    """Return the code of a library's fault."""
    codes = [damage.code for damage in _damages_of(each)]
    return each.code or (codes[0] if codes else "E-LIB-006")


def _check_search_path(installation: Installed, each: SharedObject, recorder: Recorder) -> None:
    """Report directories outside the SDK: they are directories of the build machine."""
    if each.search_path is None or installation.prefix is not None:  # the subject `prefix` reports its own
        return
    tag = "DT_RUNPATH" if each.facts and each.facts.runpath else "DT_RPATH"
    for entry in each.foreign_entries(installation.site):
        recorder.say("W-LIB-011", each.path, library=each.name, tag=tag, directory=entry)


def _check_names(installation: Installed, objects: Sequence[SharedObject], recorder: Recorder) -> None:
    """Report SONAMEs that are not the file's name, and SONAMEs that two files have."""
    by_soname: dict[str, list[SharedObject]] = {}
    for each in objects:
        soname = each.facts.soname if each.facts else None
        if soname is None:
            continue
        by_soname.setdefault(soname, []).append(each)
        beside = os.path.join(os.path.dirname(each.path), soname)
        is_unlinked = installation.prefix is not None and linker_name(soname) == linker_name(each.name)
        if soname != each.name and not os.path.exists(beside) and not is_unlinked:  # else `prefix` reports it
            facts = installation.owner_of(each.path)
            repair = _renaming(installation, each.path, beside)
            recorder.say("W-LIB-010", each.path, library=each.name, soname=soname, repair=repair, **facts)
    for soname, found in by_soname.items():
        first, *others = sorted(found, key=lambda each: each.name != soname)  # the one that is found by this name
        for other in others:
            if _is_name_to_preload(first, other):
                continue
            recorder.say("W-LIB-016", other.path, library=other.path, other=first.path, soname=soname)


def _is_name_to_preload(first: SharedObject, other: SharedObject) -> bool:
    """Return whether a library is a copy without a version beside a profiler's library.

    Wheels have no links, and users preload the copy.
    """
    import filecmp

    directory = os.path.dirname(first.path)
    return (
        "_rocm_profiler" in directory
        and other.path == os.path.join(directory, f"{first.name.partition('.so.')[0]}.so")
        and filecmp.cmp(first.path, other.path, shallow=False)
    )


# ---- loading

# Outcome of a process that a constructor ended -> code of the problem.
_ENDINGS: dict[str, Code] = {"killed": "E-LIB-007", "stuck": "E-LIB-008", "ended": "E-LIB-009"}


def _load(
    installation: Installed,
    objects: Sequence[SharedObject],
    loadable: list[SharedObject],
    recorder: Recorder,
    options: Options,
) -> None:
    failures = LoadFailures(installation, objects, options)
    paths, results, again = [each.path for each in loadable], [], list[str]()
    if installation.prefix is not None:  # its search paths are checked separately
        paths, again = [], paths
    with options.progress("loading libraries", len(loadable)) as step:
        for result in load_all(paths, options.seconds, options.parallel):
            if failures.is_unaided(result):
                again.append(result.path)
            else:
                results.append(result)
                step(os.path.basename(result.path))
        if again and installation.prefix is None:
            recorder.say("N-LIB-019", installation.site)
        with search_path(installation.search_directories if installation.prefix else failures.directories) as path:
            for result in load_all(again, options.seconds, options.parallel, path):
                results.append(result)
                step(os.path.basename(result.path))
    ended = {result.path: result for result in results if result.outcome in _ENDINGS}
    for result in sorted(results):
        name = library_name(result.path)
        if result.outcome == "loaded":
            recorder.good(f"{os.path.basename(result.path)} loaded in {result.seconds * 1e3:.1f} ms")
        elif result.outcome == "refused":
            recorder.add(failures.problem_of(result), name, failures.child_of(result))
        elif result.outcome == "lost":
            facts = {"library": os.path.basename(result.path), "signal": signal_name(result.number)}
            recorder.bad("E-LIB-021", result.path, name, **facts)
        else:
            below = [each.path for each in failures.needed.of(result.path) if each.path in ended]
            guilty = ended[below[-1]]  # the library that is loaded last runs its constructors first
            output = f'; it printed "{guilty.output}"' if guilty.output else ""
            is_stuck = guilty.outcome == "stuck"
            needed = [each.path for each in failures.needed.of(guilty.path)]
            driver = facts_of_hang([guilty.path, *needed], guilty.dlerror_text) if is_stuck else {}
            recorder.bad(
                _ENDINGS[guilty.outcome],
                guilty.path,
                name,
                failures.child_of(result),
                library=os.path.basename(guilty.path),
                signal=signal_name(guilty.number),
                status=guilty.number,
                ran=f"constructors of the library ran for more than {options.seconds} s",
                output=output,
                **driver,
            )
