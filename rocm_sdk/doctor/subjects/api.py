"""Subject `api`: whether each shortname is found, can be preloaded in a new process, and is the right library."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from rocm_sdk import _native
from rocm_sdk.base.starting import own_code
from rocm_sdk.doctor import compile_kernel
from rocm_sdk.doctor.children import Ended, run_program, run_programs
from rocm_sdk.doctor.library_table import SYMBOLS
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.errors import LibraryNotFoundError, PackageNotInstalledError, RocmSdkError
from rocm_sdk.installed.catalog import fits
from rocm_sdk.installed.installation import Installed

_USUAL_TARGET = "gfx1030"  # known to the compilers of all releases
_OUTCOMES = (compile_kernel.COMPILED, compile_kernel.LACKING, compile_kernel.FAILED, compile_kernel.PROBLEM)

_HAS_NO_SYMBOL, _HAS_PROBLEM = 3, 4
_PROGRAM = f"""
import json, sys, warnings
warnings.simplefilter("ignore")
import rocm_sdk
name, symbol = sys.argv[1:]
try:
    rocm_sdk.preload_libraries(name)
except rocm_sdk.RocmSdkError as error:
    print(json.dumps([error.code, error.path, error.facts]))
    sys.exit({_HAS_PROBLEM})
sys.exit({_HAS_NO_SYMBOL} if symbol and not hasattr(rocm_sdk._ALL_CDLLS[name], symbol) else 0)
"""


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Checks each library of the catalog whose package is installed."""
    if getattr(sys, "frozen", False):
        recorder.skip("a frozen program has no interpreter to preload libraries in")
        return
    try:
        installation.sdk.facts()
    except (ModuleNotFoundError, RocmSdkError):
        return  # the subject `packages` reports it
    found = [location for row in _native.catalog() if (location := _locate(installation, row, recorder)) is not None]
    commands = [own_code(_PROGRAM, str(each.shortname), SYMBOLS.get(str(each.shortname), "")) for each in found]
    preloaded = {}
    for location, ended in zip(found, run_programs(commands, options.seconds, options.parallel), strict=True):
        _judge(installation, location, ended, recorder)
        if ended.status == 0:
            preloaded[str(location.shortname)] = str(location.path)
    _compile_kernel(preloaded, installation, recorder, options)


def _compile_kernel(paths: Mapping[str, str], installation: Installed, recorder: Recorder, options: Options) -> None:
    """Whether hiprtc compiles: a library of its own, or a part of HIP, as in ROCm 5. paths: of what preloads."""
    name = next((name for name in ("hiprtc", "amdhip64") if name in paths), None)
    if name is None:
        return
    target = next((gpu.processor for gpu in _usable_gpus()), _USUAL_TARGET)
    command = own_code(
        "from rocm_sdk.doctor import compile_kernel; import sys; compile_kernel.main(*sys.argv[1:])", name, target
    )
    ended = run_program(command, options.seconds)
    outcome, _, text = ended.last_line.partition(" ")
    breaks, facts = "run-time compilation", {"shortname": name, "target": target, **installation.owner_of(paths[name])}
    if ended.status != 0 or outcome not in _OUTCOMES:
        recorder.bad("E-API-005", paths[name], breaks, detail=f"{ended.how}: {ended.last_line}", **facts)
        return
    value = json.loads(text)
    if outcome == compile_kernel.COMPILED and value[0] == [target]:
        recorder.good(f"{name} compiles a kernel for {target}: {value[1]} bytes")
    elif outcome == compile_kernel.COMPILED:
        recorder.bad(
            "E-API-005", paths[name], breaks, detail=f"the code is for {', '.join(value[0]) or 'no GPU'}", **facts
        )
    elif outcome == compile_kernel.PROBLEM:
        recorder.bad(value[0], value[1], breaks, **value[2])
    elif outcome == compile_kernel.FAILED:
        recorder.bad("E-API-005", paths[name], breaks, detail=value, **facts)
    elif name == "hiprtc":
        recorder.skip(f"run-time compilation: {name} has no {value}")


def _usable_gpus() -> list[_native.Gpu]:
    try:
        return [gpu for gpu in _native.survey_gpus()[0] if gpu.usable]
    except RocmSdkError:
        return []  # the subject `gpus` reports it


def _locate(
    installation: Installed, row: tuple[str, str, str, str, str, bool], recorder: Recorder
) -> _native.LibraryLocation | None:
    """The location of a row of the catalog; None if it is optional and absent, or its package is not installed."""
    name, _, pattern, *_ = row
    failure = installation.sdk.failures().get(name)
    if failure == PackageNotInstalledError.__name__:
        return None
    if failure == LibraryNotFoundError.__name__ and not _is_recorded(installation, pattern):
        recorder.skip(f"{name}: no package of this SDK has it")
        return None
    try:
        location = installation.sdk.locate(name)
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, f"check api: {name}", **error.facts)
        return None
    return location if location.path is not None else None


def _is_recorded(installation: Installed, pattern: str) -> bool:
    """Whether the RECORD of a package lists such a file. Releases have different libraries."""
    return any(fits(path.rpartition("/")[2], pattern) for path in installation.owners)


def _judge(installation: Installed, location: _native.LibraryLocation, ended: Ended, recorder: Recorder) -> None:
    name, path = str(location.shortname), str(location.path)
    breaks = f"check api: {name}"
    if ended.status == 0:
        recorder.good(f"{name} preloads")
    elif ended.status == _HAS_NO_SYMBOL:
        facts = installation.owner_of(path)
        recorder.bad("E-API-003", path, breaks, shortname=name, symbol=SYMBOLS[name], **facts)
    elif ended.status == _HAS_PROBLEM:
        code, where, facts = json.loads(ended.last_line)
        recorder.bad(code, where, breaks, **facts)
    else:
        detail = f"{ended.how}: {ended.last_line}"
        recorder.bad("E-API-002", path, breaks, shortname=name, detail=detail)
