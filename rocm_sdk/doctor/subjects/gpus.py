"""Subject `gpus`: what prevents the use of the GPUs, and whether HIP sees as many as the kernel."""

from __future__ import annotations

import json
import re
import sys

from rocm_sdk import _native
from rocm_sdk.base.starting import own_code
from rocm_sdk.doctor.children import run_program
from rocm_sdk.doctor.options import Options
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.gpu_support.code_problems import problems_on
from rocm_sdk.gpu_support.coverage import supported_by_code, targets_of, with_code
from rocm_sdk.gpu_support.packages import missing_targets, package_to_install, requirement_for, supported_targets
from rocm_sdk.installed.installation import Installed
from rocm_sdk.problems import Problem

from .environment import OF_ENVIRONMENT

_PROGRAM = """
import ctypes, json, sys
import rocm_sdk
try:
    rocm_sdk.preload_libraries("amdhip64")
except rocm_sdk.RocmSdkError as error:
    print("problem", json.dumps([error.code, error.path, error.facts]))
    sys.exit()
hip = rocm_sdk._ALL_CDLLS["amdhip64"]
count = ctypes.c_int()
statuses = hip.hipInit(0), hip.hipGetDeviceCount(ctypes.byref(count))
print("count", count.value, *statuses)
"""


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Checks access, the condition of each GPU, code for it, and HIP's own count if a GPU is usable."""
    try:
        gpus, problems, _ = _native.survey_gpus()
        health = _native.gpu_health()
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, **error.facts)
        return
    recorder.problems += [_with_node(found) for found in problems if found.code not in OF_ENVIRONMENT]
    recorder.problems += [_with_node(found) for *_, found in health if found is not None]
    for gpu in gpus:
        recorder.good(f"node {gpu.node}: {gpu.target}, {gpu.name}")
    _check_libraries(installation, gpus, recorder)
    usable = [gpu for gpu in gpus if gpu.usable]
    if usable and installation.core is not None:
        _compare_with_hip(len(usable), recorder, options)
    recorder.count = len(gpus)  # whatever else was checked


def _with_node(found: Problem) -> Problem:
    """A problem of one GPU breaks that GPU. The report makes one problem of those that several GPUs share."""
    node = found.facts.get("node")
    return found if node is None else found._replace(breaks=(f"the GPU of node {node}",))


def _check_libraries(installation: Installed, gpus: tuple[_native.Gpu, ...], recorder: Recorder) -> None:
    """Whether the libraries have code for the GPUs: by the code in their files, or by the packages if there is none."""
    if not gpus:
        return
    try:
        found = _native.coverage(installation.directories, targets_of(gpus), False)
        if with_code(found):
            _check_code(installation, found, recorder)
        else:
            _check_packages(installation, gpus, recorder)
    except RocmSdkError:
        return  # the subject `packages` reports it


def _check_code(installation: Installed, found: _native.Coverage, recorder: Recorder) -> None:
    libraries = with_code(found)
    supported = supported_by_code(found)
    for index, on in enumerate(libraries[0].gpus):
        name = on.gpu.partition(":")[0]
        if on.gpu not in supported:
            has = ", ".join(dict.fromkeys(each.target for each in found.targets))
            requirement, _ = package_to_install(installation, name)
            recorder.bad("E-GPU-002", target=name, supported=has or "none", requirement=requirement)
            continue
        problems = problems_on(found, index, installation)
        for each in problems:
            recorder.add(each)
        if not problems:
            recorder.good(f"{len(libraries)} libraries have code for {on.gpu}", counts=False)


def _check_packages(installation: Installed, gpus: tuple[_native.Gpu, ...], recorder: Recorder) -> None:
    if not installation.sdk.facts()["kpack_split"]:
        for gpu in gpus:
            recorder.skip(f"{gpu.processor}: whether the libraries have code for it cannot be told")
        return
    supported = supported_targets(installation)
    for name in missing_targets(gpus, supported):
        requirement = requirement_for(installation, name)
        recorder.bad("E-GPU-002", target=name, supported=", ".join(supported) or "none", requirement=requirement)


def _compare_with_hip(wanted: int, recorder: Recorder, options: Options) -> None:
    if getattr(sys, "frozen", False):
        recorder.skip("a frozen program has no interpreter to run HIP in")
        return
    ended = run_program(own_code(_PROGRAM), options.seconds)
    counted = re.fullmatch(r"count (\d+) (-?\d+ -?\d+)", ended.last_line) if ended.status == 0 else None
    if counted is not None and int(counted[1]) == wanted:
        recorder.good(f"HIP sees {wanted} GPUs", counts=False)
    elif ended.status == 0 and ended.last_line.startswith("problem "):
        code, path, facts = json.loads(ended.last_line.removeprefix("problem "))
        recorder.bad(code, path, "check gpus: HIP's count", **facts)
    elif counted is not None:
        detail = f"hipInit and hipGetDeviceCount returned {counted[2]}"
        recorder.bad("E-GPU-003", found=counted[1], wanted=wanted, detail=detail)
    else:
        recorder.bad("E-GPU-003", found="no", wanted=wanted, detail=f"{ended.how}: {ended.last_line}")
