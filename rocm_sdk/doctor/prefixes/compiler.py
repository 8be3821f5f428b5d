"""The check whether the compiler of a prefix finds its headers and the device libraries in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial

from rocm_sdk.doctor.children import Ended, Repeatable, Way, run_program, run_so
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.prefix import Prefix

from .programs import is_for_another_machine

_OWN_CLANGS = ("lib/llvm/bin/clang", "llvm/bin/clang", "bin/amdclang")
_CLANG = re.compile(r"(?:lib\w*/llvm[^/]*/)?bin/clang(?:-\d+)?")  # of a distribution's LLVM
_BITCODE = "ocml.bc"  # one of the device libraries
_TARGET = "gfx1030"  # every clang since 11 knows it
_LINKED = re.compile(r'"-mlink-builtin-bitcode" "([^"]+)"')
_HEADER = "include/stddef.h"


def clang_of(prefix: Prefix) -> str | None:
    """Return the path of the prefix's clang; None if it has none that can be started."""
    names = {os.path.relpath(path, prefix.root): path for path in prefix.files if "clang" in os.path.basename(path)}
    candidates = [*_OWN_CLANGS, *sorted(filter(_CLANG.fullmatch, names), key=lambda name: name.startswith("bin/"))]
    paths = (os.path.join(prefix.root, name) for name in candidates)  # a directory in these may be a link
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def check_resource_directory(
    clang: str, variables: Mapping[str, str], facts: Mapping[str, object], recorder: Recorder, options: Options
) -> bool:
    """Check whether clang's headers are in the directory that it names. Return whether nothing is wrong.

    facts: the facts of the prefix or package that has clang.
    """
    ended = run_program([clang, "-print-resource-dir"], options.seconds, variables)
    directory = os.path.normpath(ended.last_line)
    if is_for_another_machine(clang, ended):
        recorder.skip("the resource directory: clang is for another machine")
    elif ended.status != 0 or not os.path.isabs(directory):
        recorder.bad("E-TOOL-001", clang, tool="clang", detail=f"{ended.how}: {ended.last_line}", **facts)
        return False
    elif os.path.isfile(os.path.join(directory, _HEADER)):
        recorder.good(f"clang's resource directory, {directory}")
        kind = "the whole version" if "." in os.path.basename(directory) else "the major version"
        recorder.say("N-DEVEL-006", directory, detail=kind)
    else:
        beside = os.path.dirname(directory)
        others = sorted(os.listdir(beside)) if os.path.isdir(beside) else []
        found = ", ".join(name for name in others if os.path.join(beside, name) != directory)
        is_empty = f"the directory without {_HEADER}" if os.path.isdir(directory) else "nothing"
        recorder.bad("E-DEVEL-004", directory, found=found or is_empty, **facts)
        return False
    return True


def check_device_libraries(
    prefix: Prefix,
    clang: str,
    variables: Mapping[str, str],
    recorder: Recorder,
    options: Options,
    *,
    facts: Mapping[str, object],
) -> None:
    """Ask clang which device libraries it would link into a HIP program, without compiling one.

    facts: the facts of the prefix, or of the package that has it.
    """
    present = [path for path in prefix.files if os.path.basename(path) == _BITCODE]
    if os.path.relpath(clang, prefix.root) not in _OWN_CLANGS:
        recorder.skip("device libraries: the clang is not ROCm's own, and hipcc tells it where they are")
        return
    words = ["-###", "-x", "hip", "--cuda-device-only", f"--offload-arch={_TARGET}", "-nogpuinc", "-c", os.devnull]
    way = Way(options.seconds, variables=variables)
    takes_its_own = partial(_takes_its_own, prefix)
    question = Repeatable("the choice of device libraries", partial(run_so, [clang, *words]), way, takes_its_own)
    ended = question.run()
    if is_for_another_machine(clang, ended):
        recorder.skip("device libraries: clang is for another machine")
        return
    linked, foreign = _linked(prefix, ended)
    if not present:
        where = f"; clang takes those in {os.path.dirname(foreign[0])}" if foreign else ""
        recorder.skip(f"device libraries: the prefix has none{where}")
    elif linked and not foreign:
        recorder.good(f"clang takes the device libraries in {os.path.dirname(linked[0])}")
    else:
        errors = (line.strip() for line in ended.output.splitlines() if "error:" in line)
        said = next(errors, f"{ended.how}: {ended.last_line}")
        detail = f"it takes {foreign[0]}" if foreign else f"it says: {said}"
        detail = f"{detail}; they are in {os.path.dirname(present[0])}"
        recorder.bad("E-PREFIX-010", clang, None, question.child_of(ended, [clang]), detail=detail, **facts)


def _linked(prefix: Prefix, ended: Ended) -> tuple[list[str], list[str]]:
    """Return the device libraries that clang says it would link: all paths, and those that are not in the prefix."""
    linked = _LINKED.findall(ended.output)
    return linked, [path for path in linked if not prefix.has(os.path.realpath(path)) and not prefix.has(path)]


def _takes_its_own(prefix: Prefix, ended: Ended) -> bool:
    linked, foreign = _linked(prefix, ended)
    return bool(linked) and not foreign
