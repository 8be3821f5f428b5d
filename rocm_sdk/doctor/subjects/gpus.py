"""The subject `gpus`: what keeps GPUs from being used, and how many GPUs HIP and the kernel count."""

from __future__ import annotations

import json
import re
import sys
from functools import partial

from rocm_sdk import _native
from rocm_sdk.base.processes import own_code
from rocm_sdk.doctor.children import Ended, Repeatable, Way, run_so
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code_verdict import as_counted, judge_code
from rocm_sdk.fit.comgr import comgr_knows
from rocm_sdk.fit.coverage import targets_of, with_code
from rocm_sdk.fit.known_faults import known_faults, processors_of
from rocm_sdk.fit.opened_devices import survey_opened
from rocm_sdk.fit.packages import missing_targets, owner_of, requirement_for, supported_targets
from rocm_sdk.fit.standings import COUNTS, Standing, problem_of, standings_of_targets
from rocm_sdk.fit.wsl import explained
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

from .environment import OF_ENVIRONMENT

_PROGRAM = """
import ctypes, json, sys
import rocm_sdk
answers = open(int(sys.argv[1]), "w")
try:
    rocm_sdk.preload_libraries("amdhip64")
except rocm_sdk.RocmSdkError as error:
    print("problem", json.dumps([error.code, error.path, error.facts]), file=answers)
    sys.exit()
hip = rocm_sdk._ALL_CDLLS["amdhip64"]
count = ctypes.c_int()
statuses = hip.hipInit(0), hip.hipGetDeviceCount(ctypes.byref(count))
usable = sum(gpu.usable for gpu in rocm_sdk.gpus())
print("count", usable, count.value, *statuses, file=answers)
"""


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check access, the condition of each GPU, code for it, and HIP's own count if a GPU is usable."""
    try:
        gpus, found = _native.survey_gpus()[:2] if installation.core is not None else survey_opened()
        problems = explained(found)
        health = _native.gpu_health()
    except RocmSdkError as error:
        recorder.bad(error.code, error.path, **error.facts)
        return
    recorder.problems += [_with_node(found) for found in problems if found.code not in OF_ENVIRONMENT]
    recorder.problems += [_with_node(found) for *_, found in health if found is not None]
    for each in known_faults(processors_of(gpus), installation.version):
        recorder.add(each)
    for gpu in gpus:
        recorder.good(f"node {gpu.node}: {gpu.target}, {gpu.name}")
    _check_libraries(installation, gpus, recorder)
    usable = [gpu for gpu in gpus if gpu.usable]
    if usable and installation.core is not None:
        _compare_with_hip(installation, len(usable), recorder, options)
    recorder.count = len(gpus)  # whatever else was checked


def _with_node(found: Problem) -> Problem:
    """Return a problem of one GPU as one that breaks that GPU.

    The report merges the equal problems of several GPUs.
    """
    node = found.facts.get("node")
    return found if node is None else found._replace(breaks=(f"the GPU of node {node}",))


def _check_libraries(installation: Installed, gpus: tuple[_native.Gpu, ...], recorder: Recorder) -> None:
    """Check whether the libraries have code for the GPUs: by their files, or by the packages if no file has any."""
    if not gpus:
        return
    try:
        asked = targets_of(gpus)
        verdict = as_counted(judge_code(installation.directories, asked, installation, has_comgr=True), asked)
        for each in verdict.problems:
            recorder.add(each)
        if with_code(verdict.coverage):
            found = verdict.coverage
            libraries = with_code(found)
            for index, on in enumerate(libraries[0].gpus):
                for each in verdict.lacks[index]:
                    recorder.add(each)
                if not verdict.lacks[index]:
                    recorder.good(f"{len(libraries)} libraries have code for {on.gpu}", counts=False)
        else:
            _check_packages(installation, gpus, recorder)
    except RocmSdkError:
        return  # the subject `packages` reports it


def _check_packages(installation: Installed, gpus: tuple[_native.Gpu, ...], recorder: Recorder) -> None:
    if not installation.sdk.facts()["kpack_split"]:
        for gpu in gpus:
            recorder.skip(f"{gpu.processor}: whether the libraries have code for it is not known")
        return
    supported = supported_targets(installation)
    of_targets = standings_of_targets([gpu.target for gpu in gpus if owner_of(gpu.processor) in supported])
    for name in missing_targets(gpus, supported):
        lacking = [gpu.target for gpu in gpus if owner_of(gpu.processor) == name]
        ways = [of_targets.get(target, Standing(COUNTS)) for target in lacking]
        if not any(each.kind == COUNTS for each in ways):
            recorder.add(problem_of(lacking[0], ways[0]))
            continue
        requirement = requirement_for(installation, name)
        recorder.bad("E-GPU-002", target=name, supported=", ".join(supported) or "none", requirement=requirement)


def _counts(ended: Ended) -> tuple[int, int, str] | None:
    """Return how many GPUs the kernel and HIP count, and the results of HIP's functions.

    The result is None without an answer.
    """
    found = re.fullmatch(r"count (\d+) (\d+) (-?\d+ -?\d+)\n", ended.answer) if ended.status == 0 else None
    return (int(found[1]), int(found[2]), found[3]) if found is not None else None


def _agrees(ended: Ended) -> bool:
    counts = _counts(ended)
    return counts is not None and counts[0] == counts[1]


def _compare_with_hip(installation: Installed, wanted: int, recorder: Recorder, options: Options) -> None:
    if getattr(sys, "frozen", False):
        recorder.skip("a frozen program has no interpreter to run HIP in")
        return
    way = Way(options.seconds, answers=True)
    count = Repeatable("HIP's count", partial(run_so, own_code(_PROGRAM)), way, _agrees)
    ended = count.run()
    counts = _counts(ended)
    hip = installation.sdk.locate("amdhip64").path if "amdhip64" not in installation.sdk.failures() else None
    child = count.child_of(ended, [hip] if hip is not None else [])
    refused = () if _agrees(ended) else _refused(wanted)
    if refused:
        recorder.problems += refused
    elif _agrees(ended):
        recorder.good(f"HIP sees {wanted} GPUs", counts=False)
    elif ended.status == 0 and ended.answer.startswith("problem "):
        code, path, facts = json.loads(ended.answer.removeprefix("problem "))
        recorder.bad(code, path, "check gpus: HIP's count", child, **facts)
    elif counts is not None:
        detail = f"hipInit and hipGetDeviceCount returned {counts[2]}"
        recorder.bad("E-GPU-003", None, None, child, found=counts[1], wanted=counts[0], detail=detail)
    elif (unknown := _unknown_to_comgr(recorder)) is not None:
        place = recorder.problems.index(unknown)
        breaks = (*unknown.breaks, f"check gpus: HIP's count ({ended.how})")
        recorder.problems[place] = unknown._replace(breaks=breaks)
    else:
        detail = f"{ended.how}: {ended.last_line}"
        recorder.bad("E-GPU-003", None, None, child, found="no", wanted=wanted, detail=detail)


def _refused(wanted: int) -> tuple[Problem, ...]:
    """Return the problems of devices that do not open, which explain why HIP counts fewer than `wanted` GPUs."""
    gpus, found = survey_opened()
    fewer = sum(gpu.usable for gpu in gpus) < wanted
    return tuple(_with_node(each) for each in found if fewer and each.code.startswith(("W-GPU-01", "N-GPU-037")))


def _unknown_to_comgr(recorder: Recorder) -> Problem | None:
    """Return the problem of a GPU without code that the SDK's comgr does not know: HIP ends the process that sees it.

    The result is None if there is no such GPU: a comgr that knows it has nothing to do with the end of HIP.
    """
    for found in recorder.problems:
        if found.code == "E-GPU-002" and comgr_knows(found.facts.get("target", "")) is not True:
            return found
    return None
