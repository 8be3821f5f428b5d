"""The subject `devel`: the development tree is complete, its CMake packages are sound, and its compiler works."""

from __future__ import annotations

import glob
import os
import re
import tempfile
from functools import partial

from rocm_sdk._native import gpus
from rocm_sdk.base.files import names_in, read_beginning
from rocm_sdk.base.value_text import size_text
from rocm_sdk.devel import layout
from rocm_sdk.devel.cmake.text_commands import fault_of
from rocm_sdk.devel.compilers import device_libraries, find_drivers, hip_flags
from rocm_sdk.devel.stamp import is_current
from rocm_sdk.devel.verify import copies, difference, verify_tree
from rocm_sdk.doctor.children import Ended, Repeatable, Way, run_program, run_so
from rocm_sdk.doctor.load_results import search_path
from rocm_sdk.doctor.prefixes.cmake import TEXT_LIMIT, check_prefix, check_tree
from rocm_sdk.doctor.prefixes.compiler import check_device_libraries, check_resource_directory, clang_of
from rocm_sdk.doctor.prefixes.programs import variables_of
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

_PROGRAM = """\
#include <hip/hip_runtime.h>
#include <vector>
__global__ void nothing() {}
int main() { std::vector<int> numbers(1); nothing<<<1, 1>>>(); return numbers[0]; }
"""
_HIP_HEADER = "include/hip/hip_runtime.h"
_LLVM = "lib/llvm/bin"
_PARTS_OF_COMPILER = ("clang", "lld", "clang-offload-bundler")
_MOST_DRIVERS = 4  # of the system that are tried
_NO_BITCODE = "cannot find ROCm device library"  # clang's words if bitcode is not where the flags say
# The words of a compiler about a missing header.
_MISSING_HEADER = re.compile(r"error: '([\w./+-]+)' file not found|error: ([\w./+-]+): No such file")
_SELECTED_GCC = re.compile(r"^Selected GCC installation: (\S+)$", re.MULTILINE)
_OF_SDK = ("hip/", "hsa/", "amd_", "__clang")  # the beginnings of names of headers that the SDK has
_COMMON_TARGET = "gfx1030"  # every clang since 11 knows it


def check(installation: Installed, recorder: Recorder, options: Options) -> None:
    """Check the development tree, or the prefix.

    Nothing is checked if the development package is not installed, or not extracted yet.
    """
    if installation.prefix is not None:
        _check_prefix(installation, installation.prefix, recorder, options)
        return
    state = layout.tree_state(installation.site)
    if state == layout.ABSENT:
        return
    tree = layout.find_tree(installation.site)
    if state == layout.INTERRUPTED:
        leftovers = layout.find_leftovers(installation.site)
        detail = f"{leftovers[0]} is left" if leftovers else "the archive is still there"
        recorder.bad("W-DEVEL-001", installation.site, detail=detail)
    elif state == layout.LOST:
        module = os.path.join(installation.site, layout.MODULE)
        owner = installation.distribution("rocm-sdk-devel")
        facts = owner.facts if owner is not None else {"requirement": "rocm-sdk-devel"}
        recorder.bad("E-DEVEL-002", module, detail="has neither the archive nor the tree", **facts)
    elif state == layout.PACKED:
        recorder.bad("N-DEVEL-013", os.path.join(installation.site, layout.MODULE))
    elif tree is not None:
        differences = _check_tree(installation, tree, recorder)
        if all(each.code != "E-DEVEL-002" for each in differences) and not is_current(installation.site, tree):
            recorder.bad("W-DEVEL-007", tree)
        paths = sorted(glob.glob(os.path.join(glob.escape(tree), "lib/cmake/**/*.cmake"), recursive=True))
        _check_texts(installation, tree, paths, recorder)
        owner = installation.distribution(layout.DISTRIBUTION)
        lost = [each.path for each in differences if each.path is not None]
        facts = owner.facts if owner is not None else {}
        check_tree(tree, lost, facts, recorder, is_whole=not differences)
        _check_compiler(installation, tree, recorder, options)
        _check_clang_of_the_system(tree, recorder, options)


def _check_tree(installation: Installed, tree: str, recorder: Recorder) -> list[Problem]:
    """Report the differences in the tree itself, and return them.

    If there are any, the tree's fix also makes its links.
    """
    try:
        differences = verify_tree(tree, installation)
    except (RocmSdkError, OSError, RecursionError) as error:  # RecursionError: deeply nested JSON
        differences = [difference(tree, f"cannot be compared with its manifest: {error}", "reinstall")]
        recorder.add(differences[0])
        return differences
    for found in differences:
        recorder.add(found)
    is_whole = all(found.code != "E-DEVEL-002" for found in differences)
    if is_whole and (copied := copies(tree, installation)):
        recorder.bad("W-DEVEL-015", tree, number=str(len(copied)), example=copied[0])
    if not differences:
        recorder.good("every file of the development tree")
    return differences


def _check_texts(installation: Installed, tree: str, paths: list[str], recorder: Recorder) -> None:
    """Check that files are texts with CMake commands."""
    left = TEXT_LIMIT
    for path in paths:
        try:
            text = read_beginning(path, left + 1)
            left -= len(text)
            if left < 0:
                recorder.skip(
                    f"{os.path.relpath(path, tree)} and what follows: {size_text(TEXT_LIMIT)} of texts are read"
                )
                return
            fault = fault_of(text.decode("utf-8"))
        except OSError as error:
            fault = error.strerror
        except UnicodeDecodeError as error:
            fault = str(error)
        if fault is None:
            recorder.good(os.path.relpath(path, tree))
        else:
            recorder.bad("E-DEVEL-003", path, detail=fault, **installation.owner_of(path))


# ---- a prefix that is to be packaged


def _check_prefix(installation: Installed, prefix: Prefix, recorder: Recorder, options: Options) -> None:
    """Check the CMake packages of a prefix, and its compiler if it has one."""
    paths = [path for path in prefix.files if path.endswith(".cmake") and not os.path.islink(path)]
    _check_texts(installation, prefix.root, paths, recorder)
    check_prefix(prefix, recorder)
    clang = clang_of(prefix)
    if clang is None:
        recorder.skip("the compiler: the prefix has none")
        return
    with search_path(installation.search_directories) as path:
        check_resource_directory(clang, variables_of(path), prefix.facts, recorder, options)
        check_device_libraries(prefix, clang, variables_of(path), recorder, options, facts=prefix.facts)


# ---- the compiler


def _check_compiler(installation: Installed, tree: str, recorder: Recorder, options: Options) -> None:
    clang = os.path.join(tree, _LLVM, "clang")
    if os.path.exists(clang):
        facts = installation.owner_of(clang)
        is_sound = check_resource_directory(clang, {}, facts, recorder, options)
        if is_sound and device_libraries(tree) is not None:
            check_device_libraries(Prefix(tree), clang, {}, recorder, options, facts=facts)
    hipcc = os.path.join(tree, "bin/hipcc")
    if os.path.exists(hipcc) and os.path.exists(clang):
        command = [hipcc, "-x", "hip", "--offload-host-only"]
        way = Way(options.seconds, variables={"ROCM_PATH": tree, "HIP_PATH": tree})
        program = Repeatable("the compilation of a small HIP program", partial(_compiled, command), way, _is_compiled)
        ended = program.run()
        if _is_compiled(ended):
            recorder.good("a small HIP program compiles")
        else:
            files = (hipcc, *(os.path.join(tree, _LLVM, name) for name in _PARTS_OF_COMPILER))
            detail = _first_error(ended)
            child = program.child_of(ended, files)
            header = _header_of_system(detail)
            gcc = _gcc_without_headers(hipcc, header, options)
            recorder.bad("E-DEVEL-005", hipcc, None, child, header=header, **{"detail": detail, **gcc})


def _check_clang_of_the_system(tree: str, recorder: Recorder, options: Options) -> None:
    """Try the clangs in PATH that are not the tree's, until one compiles.

    A clang gets the variables that `rocm-sdk env --compiler` prints.
    """
    if device_libraries(tree) is None or not os.path.exists(os.path.join(tree, _HIP_HEADER)):
        return
    target = next((gpu.real_processor for gpu in gpus() if gpu.known), _COMMON_TARGET)
    own, refused = f"{os.path.realpath(tree)}/", None
    for driver in [each for each in find_drivers() if not os.path.realpath(each).startswith(own)][:_MOST_DRIVERS]:
        ended = _compiled([driver, "-x", "hip", *hip_flags(tree, [target])], Way(options.seconds))
        if _is_compiled(ended):
            recorder.good(f"{driver} compiles a small HIP program for {target}")
            return
        error = _first_error(ended)
        if _NO_BITCODE in error:
            recorder.skip(f"the clang of this system: the SDK lacks device libraries for {target} ({error})")
            return
        # A compiler that says where the program is wrong has started; one that does not load says nothing.
        if refused is None or (not refused[2] and _is_of_compiler(ended)):
            refused = driver, error, _is_of_compiler(ended)
    if refused is not None:
        gcc = _gcc_without_headers(refused[0], _header_of_system(refused[1]), options)
        recorder.say("N-DEVEL-012", refused[0], target=target, **{"detail": refused[1], **gcc})


def _is_of_compiler(ended: Ended) -> bool:
    """Return whether the compiler itself says what is wrong."""
    return " error: " in ended.output


def _header_of_system(error: str) -> str | None:
    """Return the header of the system's C or C++ library that a compiler does not find.

    The result is None if the compiler fails for another reason.
    """
    found = _MISSING_HEADER.search(error)
    name = found[1] or found[2] if found is not None else None
    return None if name is None or name.startswith(_OF_SDK) else name


def _gcc_without_headers(compiler: str, header: str | None, options: Options) -> dict[str, str]:
    """Return the facts about the GCC that a clang uses, if that GCC's C++ headers are not installed.

    The compiler itself says which GCC it uses: the newest that has a directory.
    """
    found = _SELECTED_GCC.search(run_program([compiler, "-v"], options.seconds).output) if header else None
    if found is None or os.path.isdir(_headers_of(found[1])):
        return {}
    parent, version = os.path.split(found[1])
    names = sorted(names_in(parent), key=lambda name: (len(name), name))  # 9 is older than 12
    with_headers = [name for name in names if os.path.isdir(_headers_of(f"{parent}/{name}"))]
    detail = f"{header} is not found: the compiler takes {found[1]}, and the C++ headers of GCC {version} are not there"
    return {"detail": detail, "gcc": version} | ({"other": f"{parent}/{with_headers[-1]}"} if with_headers else {})


def _headers_of(gcc: str) -> str:
    """Return the directory of the C++ headers of a GCC, by its directory of libraries."""
    return os.path.normpath(f"{gcc}/../../../../include/c++/{os.path.basename(gcc)}")


def _compiled(command: list[str], way: Way) -> Ended:
    """Return how a compiler ends with a small HIP program."""
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-test-") as scratch:
        source = os.path.join(scratch, "probe.hip")
        with open(source, "w", encoding="utf-8") as file:
            file.write(_PROGRAM)
        object_file = os.path.join(scratch, "probe.o")  # making it needs the linker and the bundler, too
        own = {"TMPDIR": scratch, **(way.variables or {})}  # so files that a compiler leaves behind go, too
        return run_so([*command, "-c", source, "-o", object_file], way._replace(variables=own))


def _is_compiled(ended: Ended) -> bool:
    return ended.status == 0


def _first_error(ended: Ended) -> str:
    """Return the words of a compiler about its first error."""
    errors = (line.strip() for line in ended.output.splitlines() if "error" in line)
    return next(errors, f"{ended.how}: {ended.last_line}")
