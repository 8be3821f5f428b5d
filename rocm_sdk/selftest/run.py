"""Runs the subjects of the self test, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from time import perf_counter
from typing import Final, NamedTuple

from .installation import Installation
from .options import Options
from .recorder import Recorder

Check = Callable[[Installation, Recorder, Options], None]


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # of its count
    needs_this_process: bool  # cannot check an installation elsewhere
    code_words: tuple[str, ...]  # of the codes that it reports
    summary: str


# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: Mapping[str, Subject] = {
    "packages":    Subject("checks", False, ("PKG", "FILE"),  "distributions and their versions"),
    "files":       Subject("checks", False, ("FILE",),        "the files that RECORD lists"),
    "libraries":   Subject("loaded", False, ("LIB", "FILE"),  "each shared object, loaded in a process of its own"),
    "api":         Subject("checks", True,  ("API",),         "each shortname, preloaded in a process of its own"),
    "tools":       Subject("ran",    True,  ("TOOL",),        "console scripts of the packages"),
    "devel":       Subject("checks", False, ("DEVEL", "TOOL"), "the development tree, CMake packages, the compiler"),
    "gpus":        Subject("found",  True,  ("GPU",),         "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  ("OCL",),         "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  ("ENV", "GPU"),   "variables that lead to other files or hide GPUs"),
}
# fmt: on
_SUBJECT_FAILED: Final = "E-TEST-001"


def run(installation: Installation, options: Options, recorders: list[Recorder]) -> Iterator[Recorder]:
    """Yields the results of each subject when it ends. An exception in a subject is a problem of its own.

    Each recorder is in `recorders` from its beginning, so that results so far survive an interruption.
    """
    for name, row in SUBJECTS.items():
        if not _is_wanted(name, row, options) or (row.needs_this_process and not installation.is_current):
            continue
        recorder = Recorder(name, row.unit, installation.site)
        recorders.append(recorder)
        begin = perf_counter()
        try:
            check: Check = import_module(f"{__package__}.subjects.{name}").check
            check(installation, recorder, options)
            if (untested := _untested(name, installation, recorder)) is not None:
                recorder.bad("E-TEST-002", subject=name, detail=untested)
        except Exception as error:
            recorder.bad(_SUBJECT_FAILED, subject=name, detail=f"{type(error).__name__}: {error}")
        finally:
            recorder.seconds = perf_counter() - begin
            recorder.problems = [found for found in recorder.problems if _is_code_wanted(found.code, name, options)]
        yield recorder


def _untested(name: str, installation: Installation, recorder: Recorder) -> str | None:
    """What a subject should have tested and did not, nor said why; None if all is well."""
    if recorder.count or recorder.problems or recorder.not_tried:
        return None
    if name == "files" and installation.owners:
        return f"RECORD lists {len(installation.owners):,} files, and none was looked at"
    if name == "libraries":
        paths = [path for path in installation.owners if ".so" in os.path.basename(path) and "_devel/" not in path]
        present = [path for path in paths if os.path.exists(os.path.join(installation.site, path))]
        return f"there are {len(present):,} libraries, and none was loaded" if present else None
    return None


def _is_wanted(name: str, row: Subject, options: Options) -> bool:
    """A subject runs if it is requested, or one of its codes."""
    code_words = {word.split("-")[1] for word in options.only if word not in SUBJECTS}
    return name not in options.skip and (
        not options.only or name in options.only or not code_words.isdisjoint(row.code_words)
    )


def _is_code_wanted(code: str, name: str, options: Options) -> bool:
    is_requested = not options.only or name in options.only or code in options.only or code == _SUBJECT_FAILED
    return is_requested and code not in options.skip
