"""Runs the subjects of the test, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from time import perf_counter
from typing import NamedTuple

from .installation import Installation
from .options import Options
from .recorder import Recorder

Check = Callable[[Installation, Recorder, Options], None]


class Subject(NamedTuple):
    """A row of SUBJECTS."""

    unit: str  # what its count counts
    needs_this_process: bool  # makes no sense for an installation elsewhere
    words: tuple[str, ...]  # of the codes that it reports
    summary: str


# Name -> row. The module of the same name in subjects/ has check(installation, recorder, options).
# fmt: off
SUBJECTS: Mapping[str, Subject] = {
    "packages":    Subject("checks", False, ("PKG", "FILE"),  "distributions and their versions"),
    "files":       Subject("checks", False, ("FILE",),        "what RECORD promises"),
    "libraries":   Subject("loaded", False, ("LIB", "FILE"),  "each shared object, loaded in a process of its own"),
    "api":         Subject("checks", True,  ("API",),         "each shortname, preloaded in a process of its own"),
    "tools":       Subject("ran",    True,  ("TOOL",),        "console scripts of the packages"),
    "devel":       Subject("checks", False, ("DEVEL", "TOOL"), "the development tree, CMake packages, the compiler"),
    "gpus":        Subject("found",  True,  ("GPU",),         "GPUs, their packages, and what HIP sees"),
    "opencl":      Subject("checks", True,  ("OCL",),         "whether OpenCL programs find AMD's driver"),
    "environment": Subject("checks", True,  ("ENV", "GPU"),   "variables that lead elsewhere or hide GPUs"),
}
# fmt: on
_FAILED_ITSELF = "E-TEST-001"


def run(installation: Installation, options: Options, recorders: list[Recorder]) -> Iterator[Recorder]:
    """The results of each subject, as soon as it is through. A subject that fails itself is a problem of its own.

    Each is in `recorders` from its beginning: what is known of it is not lost if it is interrupted.
    """
    for name, row in SUBJECTS.items():
        if not _is_wanted(name, row, options) or (row.needs_this_process and not installation.is_current):
            continue
        recorder = Recorder(name, row.unit)
        recorders.append(recorder)
        begin = perf_counter()
        try:
            check: Check = import_module(f"{__package__}.subjects.{name}").check
            check(installation, recorder, options)
        except Exception as error:
            recorder.bad(_FAILED_ITSELF, subject=name, detail=f"{type(error).__name__}: {error}")
        finally:
            recorder.seconds = perf_counter() - begin
            recorder.problems = [found for found in recorder.problems if _is_code_wanted(found.code, name, options)]
        yield recorder


def _is_wanted(name: str, row: Subject, options: Options) -> bool:
    """A subject runs if it is asked for, or a code that it may report."""
    words = {word.split("-")[1] for word in options.only if word not in SUBJECTS}
    return name not in options.skip and (not options.only or name in options.only or not words.isdisjoint(row.words))


def _is_code_wanted(code: str, name: str, options: Options) -> bool:
    is_asked_for = not options.only or name in options.only or code in options.only or code == _FAILED_ITSELF
    return is_asked_for and code not in options.skip
