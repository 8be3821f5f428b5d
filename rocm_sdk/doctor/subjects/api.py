"""The subject `api`: each shortname is found, can be preloaded in a new process, and is the right library."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rocm_sdk import _native
from rocm_sdk.base.processes import own_code
from rocm_sdk.doctor.children import Ended, Repeatable, Way, run_program, run_programs, run_so
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.surroundings import OURS, Child, Surroundings
from rocm_sdk.errors import LibraryNotFoundError, PackageNotInstalledError, RocmSdkError
from rocm_sdk.installed.catalog import fits
from rocm_sdk.installed.other_distributions import versions_in
from rocm_sdk.installed.view import Installed

from . import compile_kernel
from .library_table import SYMBOLS

_USUAL_TARGET = "gfx1030"  # known to the compilers of all releases
_OUTCOMES = (compile_kernel.COMPILED, compile_kernel.LACKING, compile_kernel.FAILED, compile_kernel.PROBLEM)

_COMPILE = "from rocm_sdk.doctor.subjects import compile_kernel; import sys; compile_kernel.main(*sys.argv[1:])"
_COMPILERS = ("hiprtc", "amdhip64", "amd_comgr")  # the first two may have hiprtc's functions, which open the last

_HAS_NO_SYMBOL, _HAS_PROBLEM = 3, 4
_PROGRAM = f"""
import json, os, sys, warnings
warnings.simplefilter("ignore")
import rocm_sdk
name, symbol, answers = sys.argv[1:]
try:
    rocm_sdk.preload_libraries(name)
except rocm_sdk.RocmSdkError as error:
    with open(int(answers), "w") as file:
        json.dump([error.code, error.path, error.facts], file)
    sys.exit({_HAS_PROBLEM})
sys.exit({_HAS_NO_SYMBOL} if symbol and not hasattr(rocm_sdk._ALL_CDLLS[name], symbol) else 0)
"""


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check each library of the catalog whose package is installed."""
    if getattr(sys, "frozen", False):
        recorder.skip("a frozen program has no interpreter to preload libraries in")
        return
    try:
        installation.sdk.facts()
    except (ModuleNotFoundError, RocmSdkError):
        return  # the subject `packages` reports it
    try:
        installation.sdk.failures()
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, "check api", **error.facts)
        return
    located = [location for row in _native.catalog() if (location := _locate(installation, row, recorder)) is not None]
    fifo_below = installation.needed_libraries.fifo_below
    found = [each for each in located if fifo_below(str(each.path)) is None]  # the subject `libraries` reports others
    preloaded = {}
    preloads = _Preloads(options)
    for location, ended in zip(found, preloads.run([str(each.shortname) for each in found]), strict=True):
        name, path = str(location.shortname), str(location.path)
        child = preloads.child_of(location, ended)
        breaks = f"check api: {name}"
        if ended.status == 0:
            recorder.good(f"{name} preloads")
        elif ended.status == _HAS_NO_SYMBOL:
            facts = installation.owner_of(path)
            recorder.bad("E-API-003", path, breaks, child, shortname=name, symbol=SYMBOLS[name], **facts)
        elif ended.status == _HAS_PROBLEM and ended.answer:
            code, where, facts = json.loads(ended.answer)
            recorder.bad(code, where, breaks, child, **facts)
        else:
            detail = f"{ended.how}: {ended.last_line}"
            recorder.bad("E-API-002", path, breaks, child, shortname=name, detail=detail)
        if ended.status == 0:
            preloaded[str(location.shortname)] = str(location.path)
    _compile_kernel(preloaded, installation, recorder, options)


class _Preloads:
    """The preloads of libraries by their short names, each in a process of its own."""

    def __init__(self, options: Options) -> None:
        self._way = Way(options.seconds, options.parallel, answers=True)

    def run(self, names: Sequence[str], surroundings: Surroundings = OURS, seconds: float | None = None) -> list[Ended]:
        way = self._way._replace(surroundings=surroundings, seconds=self._way.seconds if seconds is None else seconds)
        return list(run_programs([own_code(_PROGRAM, name, SYMBOLS.get(name, "")) for name in names], way))

    def child_of(self, location: _native.LibraryLocation, ended: Ended) -> Child:
        """Return the preload as a child, which can run again if it has ended."""
        again = self._again if ended.status is not None else None
        return Child(str(location.shortname), ended.seconds, again, (str(location.path),))

    def _again(self, names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        return [ended.status == 0 for ended in self.run(names, surroundings, seconds)]


def _outcome(ended: Ended) -> tuple[str, Any]:
    """Return the outcome that compile_kernel says, and its value; "" if it says nothing."""
    outcome, _, text = ended.answer.partition(" ")
    is_told = ended.status == 0 and outcome in _OUTCOMES
    return (outcome, json.loads(text)) if is_told else ("", None)


def _is_compiled(target: str, ended: Ended) -> bool:
    outcome, value = _outcome(ended)
    return outcome == compile_kernel.COMPILED and value[0] == [target]


def _compile_kernel(paths: Mapping[str, str], installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check whether hiprtc, a separate library or, as in ROCm 5, part of HIP, compiles.

    paths: the paths of preloaded libraries.
    """
    name = next((name for name in _COMPILERS[:2] if name in paths), None)
    if name is None:
        return
    target = next((gpu.processor for gpu in _usable_gpus()), _USUAL_TARGET)
    what, way = f"the compilation of a kernel with {name}", Way(options.seconds, answers=True)
    command = own_code(_COMPILE, name, target)
    compilation = Repeatable(what, partial(run_so, command), way, partial(_is_compiled, target))
    ended = compilation.run()
    outcome, value = _outcome(ended)
    if _is_compiled(target, ended):
        recorder.good(f"{name} compiles a kernel for {target}: {value[1]} bytes")
        if any(re.fullmatch(r"cupy(-rocm-.*)?", each) for each in versions_in(installation.site)):
            _compile_for_cupy([name, target], recorder, options)
        return
    lost = [row[2] for row in _native.catalog() if row[0] in _COMPILERS and row[0] not in paths]
    recorded = (file.path for each in installation.distributions for file in each.files) if lost else ()
    child = compilation.child_of(
        ended,
        [
            *(paths[each] for each in _COMPILERS if each in paths),
            *(
                os.path.join(installation.site, path)
                for path in recorded
                if any(fits(os.path.basename(path), pattern) for pattern in lost)
            ),
        ],
    )
    breaks, facts = "run-time compilation", {"shortname": name, "target": target, **installation.owner_of(paths[name])}
    if not outcome:
        recorder.bad("E-API-005", paths[name], breaks, child, detail=f"{ended.how}: {ended.last_line}", **facts)
        return
    if outcome == compile_kernel.COMPILED:
        detail = f"the code is for {', '.join(value[0]) or 'no GPU'}"
        recorder.bad("E-API-005", paths[name], breaks, child, detail=detail, **facts)
    elif outcome == compile_kernel.PROBLEM:
        recorder.bad(value[0], value[1], breaks, child, **value[2])
    elif outcome == compile_kernel.FAILED:
        recorder.bad("E-API-005", paths[name], breaks, child, detail=value, **facts)
    elif name == "hiprtc":
        recorder.skip(f"run-time compilation: {name} has no {value}")


def _compile_for_cupy(words: Sequence[str], recorder: Recorder, options: Options) -> None:
    """Check whether the headers that cupy includes compile with the directories that cupy passes: hipcc names them.

    Source: _get_hipcc_include_dirs of cupy/_environment.py. words: the compiler and the target.
    """
    home = os.environ.get("ROCM_HOME") or os.environ.get("ROCM_PATH")
    hipcc = f"{home}/bin/hipcc" if home else "hipcc"
    asked = run_program([hipcc, "-x", "hip", "-E", "-v", os.devnull], options.seconds)
    found = re.search(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", asked.output, re.DOTALL)
    directories = [f"-I{line.strip()}" for line in found[1].splitlines()] if found is not None else []
    ended = run_so(own_code(_COMPILE, *words, "cupy", *directories), Way(options.seconds, answers=True))
    outcome, value = _outcome(ended)
    if outcome == compile_kernel.COMPILED:
        recorder.good("the headers that cupy includes compile")
        return
    told = str(value) if outcome == compile_kernel.FAILED else f"{ended.how}: {ended.last_line}"
    lack = "" if directories else f"; hipcc names no directories of headers: {asked.how}: {asked.last_line}"
    recorder.bad("W-API-006", None, "cupy", shortname=words[0], detail=told + lack)


def _usable_gpus() -> list[_native.Gpu]:
    try:
        return [gpu for gpu in _native.survey_gpus()[0] if gpu.usable]
    except RocmSdkError:
        return []  # the subject `gpus` reports it


def _locate(
    installation: Installed, row: tuple[str, str, str, str, str, bool], recorder: Recorder
) -> _native.LibraryLocation | None:
    """Return the location of a row of the catalog.

    The result is None if the library is optional and absent, or its package is not installed.
    """
    name, _, pattern, *_ = row
    failure = installation.sdk.failures().get(name)
    if failure == PackageNotInstalledError.__name__:
        return None
    if failure == LibraryNotFoundError.__name__ and not any(
        fits(path.rpartition("/")[2], pattern) for path in installation.owners
    ):
        recorder.skip(f"{name}: no package of this SDK has it")
        return None
    try:
        location = installation.sdk.locate(name)
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, f"check api: {name}", **error.facts)
        return None
    return location if location.path is not None else None
