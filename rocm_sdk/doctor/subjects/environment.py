"""The subject `environment`: variables that lead to other files, are known to do harm, or hide GPUs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from rocm_sdk import _native
from rocm_sdk.base.files import is_below
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.base.processes import find_program
from rocm_sdk.base.search_path import entries_of
from rocm_sdk.base.value_text import listed
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.doctor.surroundings import removal
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.comgr_places import place_problems
from rocm_sdk.fit.frameworks import refused_hip
from rocm_sdk.fit.packages import supported_targets
from rocm_sdk.installed.catalog import linker_name
from rocm_sdk.installed.inherited import inherited
from rocm_sdk.installed.view import Installed, refused_root

# Variable -> what it changes.
_REPORTED = {
    "PYTHONPATH": "where Python looks for modules, the SDK included",
    "PYTHONHOME": "where Python finds its own files",
    "PYTHONNOUSERSITE": "whether Python uses the user's site-packages",
    "LD_PRELOAD": "what every program loads first",
    "ROCM_SDK_ROOTFS": "where this package looks for GPUs",
    "ROCM_SDK_ROOT": "which SDK is used",
    "ROCM_SDK_TARGET_FAMILY": "which libraries package is used",
    "HSA_MODEL_TOPOLOGY": "where ROCm looks for GPUs",
}
# The problems of GPUs that variables cause; the subject `gpus` reports the others.
OF_ENVIRONMENT = frozenset({"W-GPU-024", "W-GPU-025", "W-GPU-026", "W-GPU-033"})
# In the order in which ROCm applies them.
_VISIBILITY = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_LIBRARY_PATH = "LD_LIBRARY_PATH"
_ROCM_HOMES = ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")


def check(installation: Installed, recorder: Recorder, _options: Options) -> None:
    """Run all checks."""
    if (error := refused_root()) is not None:
        recorder.bad(error.code, error.path, **error.facts)
    _check_foreign_directories(installation, recorder)
    known = {row[0] for row in _native.catalog()}
    unknown = [name for name in listed(os.environ.get("ROCM_SDK_PRELOAD_LIBRARIES", "")) if name not in known]
    if unknown:  # each initialize_process raises
        meant = did_you_mean(unknown[0], known)
        detail = f"no library has the name {unknown[0]!r}" + (f"; {meant}" if meant else "")
        recorder.bad("E-ENV-007", detail=detail)
    if "HIP_USE_RUNTIME_UNBUNDLER" in os.environ:
        recorder.bad("W-ENV-002", value=os.environ["HIP_USE_RUNTIME_UNBUNDLER"])
    _check_gpu_variables(installation, recorder)
    for found in place_problems(installation):
        recorder.add(found)
    for variable, what in _REPORTED.items():
        if value := os.environ.get(variable):
            recorder.say("N-ENV-006", variable=variable, value=value, what=what)
    for variable, value in os.environ.items():
        if variable.startswith("ROCM_SDK_LIBRARY_") and value:
            recorder.say("N-ENV-006", variable=variable, value=value, what="which file is used for this library")
    _check_home(installation, recorder)
    _check_inherited(installation, recorder)
    recorder.good("variables that lead to other files")


def _check_foreign_directories(installation: Installed, recorder: Recorder) -> None:
    """Report directories with ROCm libraries outside the SDK, each once, with all variables that name it."""
    found: dict[str, tuple[dict[str, None], str]] = {}
    for path, variable, library in _foreign_directories(installation):
        found.setdefault(os.path.realpath(path), ({}, library))[0][variable] = None
    for path, (variables, library) in found.items():
        value, line = os.environ[next(iter(variables))], _removal_of(path, variables)
        named = " and ".join(variables)
        refused = refused_hip(installation, os.path.join(path, library), named, variables=os.environ)
        more = f"; triton {refused.facts['version']} does not run with another HIP" if refused is not None else None
        facts = {"library": library, "removal": line, "more": more}
        recorder.bad("W-ENV-001", path, variable=named, value=value, **facts)


def _check_home(installation: Installed, recorder: Recorder) -> None:
    """Report that builds of torch's extensions take the environment's root, which has no headers, for ROCm.

    Without the variables, torch (2.11) takes the directory above that of the `hipcc` in PATH, a script of the
    environment.
    """
    root = os.path.realpath(f"{installation.site}/../../..")
    variable = next((name for name in ("ROCM_HOME", "ROCM_PATH") if os.environ.get(name)), None)
    has_torch, hipcc = os.path.isdir(f"{installation.site}/torch"), find_program("hipcc")
    home = os.environ[variable] if variable else f"{os.path.realpath(hipcc)}/../.." if hipcc and has_torch else None
    if home is None or os.path.realpath(home) != root or os.path.exists(f"{root}/include/hip"):
        return
    recorder.bad("W-ENV-017", root, variable=variable)


def _check_inherited(installation: Installed, recorder: Recorder) -> None:
    """Report variables that a parent may have left.

    Variables that lead out of the SDK are a warning, the others a note.
    """
    told = {found.facts.get("variable", "") for found in recorder.problems}
    for each in inherited(installation, os.environ):
        if any(each.name in names.split(" and ") for names in told):
            continue
        facts = {"variable": each.name, "value": each.value}
        if each.outside:
            absent = [path for path in each.outside if not os.path.exists(path)]
            lack = f"; there is no {', '.join(absent)}" if absent else ""
            is_own = all(is_below(path, installation.site) for path in each.outside)
            where = "to nothing in this SDK" if is_own else None
            more = {
                "where": where,
                "harm": each.row.harm,
                "setter": each.row.set_by,
                "removal": each.removal,
                "lack": lack,
            }
            recorder.bad("W-ENV-016", each.outside[0], **facts, **more)
        elif each.row.kind == "switch" or "/" not in each.value:  # other values lie in this SDK
            recorder.say("N-ENV-006", **facts, what=f"what ROCm does: {each.row.harm}; set by {each.row.set_by}")


def _removal_of(directory: str, variables: Collection[str]) -> str:
    """Return the shell line after which no variable names a directory; other entries of a list stay."""
    homes = [name for name in variables if name != _LIBRARY_PATH]
    lines = [f"unset {' '.join(homes)}"] if homes else []
    if _LIBRARY_PATH in variables:
        lines.append(removal(_LIBRARY_PATH, lambda _, entry: _has(entry, directory)))
    return " && ".join(lines)


def _has(entry: str, directory: str) -> bool:
    """Return whether an entry is a directory, or its lib."""
    return directory in {os.path.realpath(entry), os.path.realpath(os.path.join(entry, "lib"))}


def _foreign_directories(installation: Installed) -> Iterator[tuple[str, str, str]]:
    """Yield directories outside the SDK with ROCm libraries: the directory, the variable, and one library."""
    variables = {name: os.environ[name] for name in (_LIBRARY_PATH, *_ROCM_HOMES) if os.environ.get(name)}
    named = {name: entries_of(name, value) for name, value in variables.items()}
    ours = {*installation.linker_names, "libamdhip64.so"} if named else set()
    site = os.path.realpath(installation.site)
    for variable, entries in named.items():
        for entry in entries:
            for path in dict.fromkeys((entry, os.path.join(entry, "lib"))):
                try:
                    library = next((name for name in sorted(os.listdir(path)) if linker_name(name) in ours), None)
                except OSError:
                    library = None
                if library is not None and os.path.commonpath((site, os.path.realpath(path))) != site:
                    yield path, variable, library


def _check_gpu_variables(installation: Installed, recorder: Recorder) -> None:
    try:
        gpus, problems, hidden_by = _native.survey_gpus()
        supported = supported_targets(installation) if any(gpu.overridden for gpu in gpus) else ()
    except RocmSdkError:
        return  # the subjects `gpus` and `packages` report it
    for found in problems:
        if found.code in OF_ENVIRONMENT:
            recorder.add(found)
    if all(gpu.hip_index is None for gpu in gpus):
        _tell_what_hides(gpus, hidden_by, recorder)
    for gpu in gpus:
        if gpu.overridden and supported and gpu.processor not in supported:
            recorder.bad("E-ENV-004", target=gpu.processor, supported=", ".join(supported))
        elif gpu.overridden and gpu.real_processor in supported:
            detail = f"node {gpu.node} is {gpu.real_processor}, which the installed packages support"
            recorder.bad("W-ENV-003", detail=detail)


def _tell_what_hides(gpus: tuple[_native.Gpu, ...], hidden_by: tuple[str | None, ...], recorder: Recorder) -> None:
    """Name the variable that hides the last of the GPUs; nothing if no variable does."""
    for variable in reversed(_VISIBILITY):
        if variable in hidden_by:
            recorder.bad("W-ENV-005", detail=gpus[hidden_by.index(variable)].why_not, variable=variable)
            return
