"""Reports of find_package and links that fail: what the CMake packages of a tree require, and the tree lacks.

CMake is the judge of what a package requires.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import cmake_judge
import pytest
from artifact_tree import usual_tree
from checked_packages import built, check, path_of, problems
from cmake_judge import CMAKE
from installed_rocm import Prefix as Made
from programs import completed
from sample_devel import DevelSite, member, sample_members
from sample_prefix import run_on_prefix
from sample_site import clean_environment

from rocm_sdk.devel.cmake.package_faults import check_packages, package_of

CODE = "E-PREFIX-009"
DEPENDENCY = "include(CMakeFindDependencyMacro)\n"
PREFIX = 'get_filename_component(PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)\n'
# The beginning of what CMake writes for install(EXPORT), and its end.
EXPORT = """\
set(_cmake_targets_defined "")
set(_cmake_expected_targets "")
foreach(_cmake_expected_target IN ITEMS hip::hip)
  list(APPEND _cmake_expected_targets "${_cmake_expected_target}")
  if(TARGET "${_cmake_expected_target}")
    list(APPEND _cmake_targets_defined "${_cmake_expected_target}")
  endif()
endforeach()
if(_cmake_targets_defined STREQUAL _cmake_expected_targets)
  return()
endif()
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
if(_IMPORT_PREFIX STREQUAL "/")
  set(_IMPORT_PREFIX "")
endif()
add_library(hip::hip SHARED IMPORTED)
file(GLOB _cmake_config_files "${CMAKE_CURRENT_LIST_DIR}/hip-targets-*.cmake")
foreach(_cmake_config_file IN LISTS _cmake_config_files)
  include("${_cmake_config_file}")
endforeach()
set(_IMPORT_PREFIX)
foreach(_cmake_file IN LISTS _cmake_import_check_files)
  if(NOT EXISTS "${_cmake_file}")
    message(FATAL_ERROR "${_cmake_file}: there is no such file")
  endif()
endforeach()
"""
RELEASE = """\
set_property(TARGET hip::hip APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(hip::hip PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/%s")
list(APPEND _cmake_import_check_files "${_IMPORT_PREFIX}/lib/%s")
"""
INCLUDE = 'include("${CMAKE_CURRENT_LIST_DIR}/hip-%s.cmake")\n'
TARGET = f"""\
{PREFIX}add_library(hip::hip SHARED IMPORTED)
set_target_properties(hip::hip PROPERTIES IMPORTED_LOCATION "${{PREFIX}}/lib/libhip.so" """

FATAL = 'message(FATAL_ERROR "it ends")\n'
CLANG = "lib/llvm/lib/clang/20/lib/linux"
BUILTINS = f"""\
{PREFIX}file(GLOB CLANG_RT_PATHS "${{PREFIX}}/lib/llvm/lib/clang/*/lib/*")
find_library(BUILTINS
  NAMES clang_rt.builtins clang_rt.builtins-x86_64 PATHS ${{CLANG_RT_PATHS}} NO_DEFAULT_PATH)
if(NOT BUILTINS)
  message(FATAL_ERROR "clangrt builtins lib not found")
endif()
"""
LINKED = """\
if(IS_SYMLINK ${CMAKE_CURRENT_LIST_FILE})
  get_filename_component(CONFIG_FILE_PATH "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
  get_filename_component(PACKAGE_PREFIX_DIR "${CONFIG_FILE_PATH}/../../../../" ABSOLUTE)
endif()
set(_IMPORT_PREFIX ${PACKAGE_PREFIX_DIR})
add_library(hip::device INTERFACE IMPORTED)
set_target_properties(hip::device PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include")
"""

# Texts of the packages -> the names that are missing, or CMake's words. A key that begins with `/` is a path in the
# tree, and a text that begins with `->` a link. A project asks for hip, and links hip::hip if that is a target.
# fmt: off
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "all is there": ({"hip": DEPENDENCY + "find_dependency(hsa-runtime64)", "hsa-runtime64": "set(x 1)"}, set()),
    "find_dependency": ({"hip": DEPENDENCY + "find_dependency(hsa-runtime64 1.0)"}, {"hsa-runtime64"}),
    "find_package REQUIRED": ({"hip": "find_package(amd_comgr CONFIG REQUIRED)"}, {"amd_comgr"}),
    "find_package that need not find it": ({"hip": "find_package(amd_comgr CONFIG QUIET)"}, set()),
    "in a comment": ({"hip": "# find_dependency(hsakmt)\n#[[ find_dependency(hsakmt) ]]"}, set()),
    "in a text": ({"hip": "set(text [[find_dependency(hsakmt)]])\nset(other \"find_dependency(hsakmt)\")"}, set()),
    "only for Windows": ({"hip": DEPENDENCY + "if(WIN32)\nfind_dependency(hsakmt)\nendif()"}, set()),
    "not for Windows": ({"hip": DEPENDENCY + "if(NOT WIN32)\nfind_dependency(hsakmt)\nendif()"}, {"hsakmt"}),
    "only if static": (
        {"hip": DEPENDENCY + "set(is_dynamic ON)\nif(NOT is_dynamic)\nfind_dependency(hsakmt)\nendif()"}, set()),
    "else": (
        {"hip": DEPENDENCY + "if(OFF)\nset(x 1)\nelseif(gone)\nelse()\nfind_dependency(hsakmt)\nendif()"}, {"hsakmt"}),
    "a variable": ({"hip": DEPENDENCY + "set(what hsakmt)\nfind_dependency(${what})"}, {"hsakmt"}),
    "each of a list": (
        {"hip": DEPENDENCY + "set(l hsakmt;amd_comgr)\nforeach(d IN LISTS l)\nfind_dependency(${d})\nendforeach()",
         "amd_comgr": ""}, {"hsakmt"}),
    "after return": ({"hip": DEPENDENCY + "return()\nfind_dependency(hsakmt)"}, set()),
    "in a macro that is not called": (
        {"hip": "macro(require name)\nfind_package(hsakmt REQUIRED)\nendmacro()"}, set()),
    "of a text that it includes": (
        {"hip": INCLUDE % "more", "hip/hip-more.cmake": "find_package(hsakmt REQUIRED)"}, {"hsakmt"}),
    "a text that is not there": ({"hip": INCLUDE % "more"}, {"lib/cmake/hip/hip-more.cmake"}),
    "a text that need not be there": (
        {"hip": 'include("${CMAKE_CURRENT_LIST_DIR}/hip-more.cmake" OPTIONAL)'}, set()),
    "a directory for includes": (
        {"hip": TARGET + 'INTERFACE_INCLUDE_DIRECTORIES "${PREFIX}/include;${PREFIX}/gone")'}, {"gone"}),
    "a target of another package": (
        {"hip": "find_package(hsa REQUIRED)\n" + TARGET
         + 'INTERFACE_LINK_LIBRARIES "hsa::hsa;$<LINK_ONLY:hsa::image>")',
         "hsa": "add_library(hsa::hsa INTERFACE IMPORTED)"}, {"hsa::image"}),
    "a library": ({"hip": INCLUDE % "targets", "hip/hip-targets.cmake": EXPORT,
                   "hip/hip-targets-release.cmake": RELEASE % (("libhip.so.2",) * 2)}, {"lib/libhip.so.2"}),
    "a library that is there": (
        {"hip": DEPENDENCY + "find_dependency(hsa)\n" + INCLUDE % "targets", "hsa": "",
         "hip/hip-targets.cmake": EXPORT, "hip/hip-targets-release.cmake": RELEASE % (("libhip.so",) * 2)}, set()),
    "what find_path has not found": (
        {"hip": DEPENDENCY + "find_path(header stdio.h)\nif(NOT header)\nmessage(FATAL_ERROR no)\nendif()\n"
         "find_dependency(hsakmt)"}, {"hsakmt"}),
}
# The same, of packages for which a project asks by other names, and what it names that a build does not stop for.
MORE: dict[str, tuple[dict[str, str], set[str]]] = {
    "19: of nobody": ({"hsakmt": DEPENDENCY + "if(ON)\nfind_dependency(NUMA)\nendif()", "hip": ""}, {"NUMA"}),
    "19: of nobody, asked for otherwise": (
        {"rocm_smi": "set(what Systemd)\nfind_package(${what} 2 CONFIG REQUIRED)", "hip": ""}, {"Systemd"}),
    "19: of CMake": ({"hip": DEPENDENCY + "find_dependency(Threads)\nfind_package(Python3 REQUIRED)"}, set()),
    "19: found after all": (
        {"hip": "set(Threads_FOUND FALSE)\nfind_package(Threads)\nif(NOT Threads_FOUND)\n"
         "message(FATAL_ERROR no)\nendif()"}, set()),
    "19: a module of the tree": (
        {"hip": 'list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")\nfind_package(NUMA REQUIRED)',
         "hip/FindNUMA.cmake": "set(NUMA_FOUND TRUE)"}, set()),
    "numbers and versions": (
        {"hip": DEPENDENCY + "if(1 LESS 1 OR 1.9 VERSION_GREATER 1.10 OR 2 LESS_EQUAL 1)\nfind_dependency(NUMA)\n"
         "elseif(1.10 VERSION_GREATER_EQUAL 1.9.0 AND 2 GREATER 1 AND 2 EQUAL 2)\nfind_dependency(Systemd)\nendif()"},
        {"Systemd"}),
    "27: builtins of clang": (
        {"hip": BUILTINS, f"/{CLANG}/libclang_rt.asan.so": ""}, {"clangrt builtins lib not found"}),
    "27: builtins that are there": ({"hip": BUILTINS, f"/{CLANG}/libclang_rt.builtins-x86_64.a": ""}, set()),
    "27: a name that only CMake knows": (
        {"hip": BUILTINS.replace("builtins-x86_64", "builtins-${CMAKE_SYSTEM_PROCESSOR}"), f"/{CLANG}/libx.a": ""},
        {"clangrt builtins lib not found"}),
    "27: the same, there": (
        {"hip": BUILTINS.replace("builtins-x86_64", "builtins-${CMAKE_SYSTEM_PROCESSOR}"),
         f"/{CLANG}/libclang_rt.builtins-{os.uname().machine}.a": ""}, set()),
    "27: no directory": ({"hip": BUILTINS}, {"clangrt builtins lib not found"}),
    "27: through a link": (
        {"hip": BUILTINS.replace("lib/llvm", "llvm"), "/llvm": "-> lib/llvm", f"/{CLANG}/libclang_rt.builtins.a": ""},
        set()),
    "27: a header": (
        {"rocblas": PREFIX + 'file(GLOB d "${PREFIX}/include/roc*/v[12]")\nfind_path(H NAMES a.h b.h PATHS ${d} '
         'NO_DEFAULT_PATH)\nif(H MATCHES "NOTFOUND$")\nmessage(FATAL_ERROR "no header " "a.h")\nendif()', "hip": "",
         "/include/rocblas/v1/c.h": "", "/include/rocblas/v3/a.h": ""}, {"no header a.h"}),
    "27: a header in a directory of it": (
        {"hip": PREFIX + 'find_path(H b.h HINTS "${PREFIX}/include" PATH_SUFFIXES x y NO_DEFAULT_PATH)\n'
         'if(NOT H STREQUAL "${PREFIX}/include/y")\nmessage(FATAL_ERROR "${H}")\nendif()',
         "/include/y/b.h": ""}, set()),
    "27: a program": (
        {"hip": PREFIX + 'find_program(CC clang PATHS "${PREFIX}/bin" NO_DEFAULT_PATH)\nif(NOT CC)\n'
         'message(FATAL_ERROR no-clang)\nendif()'}, {"no-clang"}),
    "27: elsewhere, too": (
        {"hip": "find_program(SH NAMES sh PATHS /nowhere)\nif(NOT SH)\nmessage(FATAL_ERROR no)\nendif()"}, set()),
    "27: another directory of libraries": (
        {"hip": PREFIX + 'find_library(x NAMES x PATHS "${PREFIX}/lib/y" NO_DEFAULT_PATH)\nif(NOT x)\n'
         "message(WARNING no)\nendif()", "/lib64/y/libx.so": ""}, set()),
    "29: a prefix that only a link has": ({"hip": LINKED, "/include/a.h": ""}, {"/include"}),
    "29: the same, where it is one": (
        {"hip": "-> ../../real/a/b/c", "/lib/real/a/b/c": LINKED, "/lib/include/a.h": ""},
        set()),
    "29: a library of a prefix that nobody sets": (
        {"amd_comgr": 'if(IS_SYMLINK "${CMAKE_CURRENT_LIST_DIR}")\n' + PREFIX + 'endif()\nadd_library(amd_comgr SHARED '
         'IMPORTED)\nset_target_properties(amd_comgr PROPERTIES IMPORTED_LOCATION "${PREFIX}/opt/libamd_comgr.so")',
         "hip": ""}, {"/opt/libamd_comgr.so"}),
    "20: of ROCm": (
        {"hip": 'set(HIP_COMPILER clang)\ninclude("${CMAKE_CURRENT_LIST_DIR}/hip-config-amd.cmake")',
         "hip/hip-config-amd.cmake": DEPENDENCY + 'if(HIP_COMPILER STREQUAL "clang")\nfind_dependency(AMDDeviceLibs)\n'
         "find_dependency(amd_comgr)\nendif()", "amd_comgr": ""}, {"AMDDeviceLibs"}),
    "20: of ROCm, in a list": (
        {"rocfft": "foreach(d IN ITEMS hip hiprand)\nfind_package(${d} REQUIRED CONFIG)\nendforeach()", "hip": ""},
        {"hiprand"}),
    "after a loop that ends": (
        {"hip": "foreach(i a b)\nif(i STREQUAL a)\nreturn()\nendif()\nendforeach()\n" + FATAL}, set()),
    "in a loop that is left": ({"hip": "foreach(i a b)\nbreak()\n" + FATAL + "endforeach()"}, set()),
    "in a loop that goes on": ({"hip": "foreach(i a b)\ncontinue()\n" + FATAL + "endforeach()\nset(x 1)"}, set()),
    "after a loop that is left": ({"hip": "foreach(i a b)\nbreak()\nendforeach()\n" + FATAL}, {"it ends"}),
    "after a loop of nobody knows what": (
        {"hip": "foreach(i ${CMAKE_SYSTEM})\nif(i)\nreturn()\nendif()\nendforeach()\n" + FATAL}, set()),
    "what a macro sets": (
        {"hip": "macro(find_root)\nset(ROOT x)\nendmacro()\nfind_root()\nif(NOT ROOT)\n" + FATAL + "endif()"}, set()),
    "after a macro that returns": ({"hip": "macro(stop)\nreturn()\nendmacro()\nstop()\n" + FATAL}, set()),
    "a target of what it has found": (
        {"hip": DEPENDENCY + "find_dependency(hsa)\nif(NOT TARGET hsa::hsa)\n" + FATAL + "endif()",
         "hsa": "add_library(hsa::hsa INTERFACE IMPORTED)"}, set()),
    "what another package sets": (
        {"hip": DEPENDENCY + "find_dependency(hsa)\nif(NOT HSA)\n" + FATAL + "endif()", "hsa": "set(HSA 1)"}, set()),
    "a module that sets it": (
        {"hip": 'list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")\ninclude(more)\n'
         "if(NOT HSA)\n" + FATAL + "endif()",
         "hip/more.cmake": "set(HSA 1)"}, set()),
    "a newer CMake": ({"hip": "if(CMAKE_VERSION VERSION_LESS 4.2)\n" + FATAL + "endif()"}, set()),
    "its own directory": ({"hip": "add_library(hip::hip SHARED IMPORTED)\nset_target_properties(hip::hip PROPERTIES "
                           'IMPORTED_LOCATION "${hip_DIR}/../../libhip.so")'}, set()),
    "a directory of the project": (
        {"hip": "add_library(hip::hip INTERFACE IMPORTED)\nset_target_properties(hip::hip PROPERTIES "
         'INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}")'}, set()),
    "in a block": ({"hip": "block()\nset(x 1)\nendblock()\nif(x)\n" + FATAL + "endif()"}, set()),
    "once": ({"hip": INCLUDE % "more" + 'set_and_check(x "/nowhere/x")', "hip/hip-more.cmake": FATAL}, {"it ends"}),
}
# fmt: on
ALL = CASES | MORE
ROWS = pytest.mark.parametrize(("texts", "missing"), CASES.values(), ids=[*CASES])


class Tree:
    """CMake files below a directory."""

    def __init__(self, root: Path, texts: dict[str, str]) -> None:
        self.root = root
        (root / "include").mkdir(parents=True)
        (root / "lib").mkdir()
        (root / "lib/libhip.so").write_bytes(b"")
        for name, text in texts.items():
            path = root / "lib/cmake" / (name if name.endswith(".cmake") else f"{name}/{name}-config.cmake")
            path = root / name[1:] if name.startswith("/") else path
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("-> "):
                path.symlink_to(text[3:])
            else:
                path.write_text(f"{text}\n")
        self.texts = [str(path) for path in root.rglob("*.cmake")]

    def text(self, path: str) -> str:
        return Path(path).read_text()

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def is_link(self, path: str) -> bool:
        return Path(path).is_symlink()

    def names(self, path: str) -> list[str] | None:
        if not Path(path).is_relative_to(self.root):
            return None
        return [each.name for each in Path(path).iterdir()] if Path(path).is_dir() else []

    def has_package(self, _name: str) -> bool:
        return False

    def missing(self) -> set[str]:
        checked = check_packages(self, "which the tree lacks")
        return {each.name.removeprefix(f"{self.root}/") for each in (*checked.faults, *checked.foreign)}


@pytest.mark.parametrize(("texts", "missing"), ALL.values(), ids=[*ALL])
def test_what_cmake_names(tmp_path: Path, texts: dict[str, str], missing: set[str]) -> None:
    """A real CMake, asked for each package alone, names what is missing, or ends with the same words."""
    tree = Tree(tmp_path / "tree", texts)
    packages = {name: Path(each).parent for each in tree.texts if (name := package_of(each)) is not None}
    assert cmake_judge.names(cmake_judge.missing(tree.root, packages, tmp_path / "user"), tree.root) == missing
    assert tree.missing() == missing


@ROWS
def test_as_cmake_says(tmp_path: Path, texts: dict[str, str], missing: set[str]) -> None:
    """A project that asks for the package is configured if and only if nothing is missing."""
    tree = Tree(tmp_path / "tree", texts)
    assert tree.missing() == missing
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(user LANGUAGES C)", "find_package(hip CONFIG REQUIRED)"]
    lines += ["add_executable(x x.c)", "if(TARGET hip::hip)", "target_link_libraries(x hip::hip)", "endif()"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    done = completed([CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree.root}"], timeout=120)
    assert (done.returncode == 0) == (not missing), done.stdout + done.stderr


HOSTILE = {
    "if": "if(" * 5000,
    "variables": "set(x ${" * 5000,
    "comments": "#[[" * 100_000,
    "brackets": "[[" * 100_000,
    "escapes": '"\\' * 100_000,
    "itself": 'include("${CMAKE_CURRENT_LIST_FILE}")\n' * 3,
    "loops": "set(x a;b;c;d;e;f;g;h)\n" + "foreach(i IN LISTS x)\n" * 20 + "set(y 1)\n" + "endforeach()\n" * 20,
    "places": "set(x /lib)\n"
    + 'set(x "${x}${x}")\n' * 18
    + "find_library(y z PATHS ${x} ${x} NO_DEFAULT_PATH)\n" * 1000,
    "many places": "set(x /lib/lib/lib/lib;a)\n"
    + "set(x ${x} ${x})\n" * 12
    + "find_library(y NAMES ${x} PATHS ${x} PATH_SUFFIXES ${x} NO_DEFAULT_PATH)\n" * 1000,
    "globs": "file(GLOB x "
    + "/*" * 100
    + ")\n"
    + "set(x /a)\n"
    + 'set(x "${x}${x}")\n' * 19
    + "file(GLOB y ${x})\n" * 500,
    "a macro": "macro(a)\n" + "set(x y)\n" * 5000 + "endmacro()\n" + "a()\n" * 100_000,
    "growth": "set(x ab)\n" + 'set(x "${x}${x}")\n' * 64,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_no_time(tmp_path: Path, name: str) -> None:
    assert Tree(tmp_path / "tree", {"hip": HOSTILE[name]}).missing() == set()


# ---- the cost of texts

DOUBLED = 'set(b "a;a")\n' + 'set(b "${b};${b}")\n' * 18
DIGITS = 'set(n "0;1;2;3;4;5;6;7;8;9")\n'


def each_turn(text: str) -> str:
    return f"{DOUBLED}foreach(y IN LISTS b)\n{text}endforeach()\n"


def each_number(text: str) -> str:
    return DIGITS + "".join(f"foreach({name} IN LISTS n)\n" for name in "xyzwv") + text + "endforeach()\n" * 5


# Texts that would take hours or gigabytes.
ENDLESS = {
    "memory": DOUBLED + each_number('set(v${x}${y}${z}${w}${v} "${b}x")\n'),
    "turns": each_turn("foreach(x IN LISTS b)\nendforeach()\n"),
    "values": each_turn('set(c "${b}x")\n'),
    "lists": 'set(b "abc;abd")\n'
    + 'set(b "${b};${b}")\n' * 16
    + "foreach(y IN LISTS b)\n" * 20
    + "endforeach()\n" * 20,
    "a macro": each_turn("macro(a)\n" + "set(x y)\n" * 100_000 + "endmacro()\n"),
    "what is passed over": each_turn("if(OFF)\n" + "set(x y)\n" * 100_000 + "endif()\n"),
    "conditions": each_turn("if(b)\nendif()\n"),
    "places": each_turn("if(EXISTS /usr/lib/x)\nendif()\n"),
    "directories": each_turn("file(GLOB x /usr/*/*/*)\n"),
    "patterns": each_turn(f'file(GLOB x "/usr/lib/{"*a" * 1900}")\n'),
    "searches": each_turn(
        "find_library(z NAMES a b PATHS /lib/lib/lib PATH_SUFFIXES lib/lib NO_DEFAULT_PATH)\nunset(z)\n"
    ),
    "packages": each_number("find_dependency(hip${x}${y}${z}${w}${v})\n"),
    "names": each_number(
        "set_target_properties(x PROPERTIES IMPORTED_LOCATION_${x}${y}${z}${w}${v} /usr/lib/${x}${y}${z}${w}${v}/..)\n"
        'set_target_properties(x PROPERTIES INTERFACE_LINK_LIBRARIES "hip::a${x}${y}${z}${w}${v}")\n'
    ),
    "arguments": f"set(a {'b ' * 4_000_000})",
    "a long argument": f'set(a "{"a" * 8_000_000}")',
    "escapes": f'set(a b"{chr(92)}n")\nset(a "{(chr(92) + "n") * 2_000_000}")',
    "comments": "#\n" * 4_000_000,
    "includes": 'include("${CMAKE_CURRENT_LIST_FILE}")\n' * 30,
}
FLAGS = f"a={'x ' * 2000}\n" + "Libs: ${a}\n" * 5000


def limited_test(prefix: Path) -> tuple[list[str], list[str]]:
    """Return what `rocm-sdk test` says is sound, and not tried, with a minute of processor time and 1.5 GB."""
    words = [sys.executable, "-m", "rocm_sdk", "test", "--checks", "-v", "--only", "devel", "--sdk", prefix]
    limits = 'ulimit -t 60; ulimit -v 1500000; exec "$@"'
    done = completed(["bash", "-c", limits, "bash", *words], env=clean_environment() | {"COLUMNS": "2000"})
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    return (
        [line.removeprefix("ok devel: ") for line in lines if line.startswith("ok devel: ")],
        [line.removeprefix("not tried devel: ") for line in lines if line.startswith("not tried devel: ")],
    )


@pytest.mark.parametrize("name", ENDLESS)
def test_what_takes_too_much_is_not_read(tmp_path: Path, name: str) -> None:
    prefix = Made(tmp_path)
    prefix.file("include/hip/hip_runtime.h", "")
    prefix.file("lib/cmake/hip/hip-config.cmake", f"{PREFIX}set_and_check(x ${{PREFIX}}/include)\n{ENDLESS[name]}")
    passed, not_tried = limited_test(prefix.root)
    assert not [each for each in passed if "paths in" in each]
    assert [each for each in not_tried if each.startswith("lib/cmake/hip/hip-config.cmake: not read to the end: ")]


def test_texts_of_pkgconfig_that_take_too_much(tmp_path: Path) -> None:
    """They share what texts may cost."""
    prefix = Made(tmp_path)
    prefix.file("include/hip/hip_runtime.h", "")
    for number in range(50):
        prefix.file(f"lib/pkgconfig/hip{number:02}.pc", f"prefix=/usr\nCflags: -I${{prefix}}\n{FLAGS}")
    assert any("more texts: not read to the end" in each for each in limited_test(prefix.root)[1])


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("kind", ["a text", "a text of pkg-config", "blocks", "packages"])
def test_one_beyond_each_limit(tmp_path: Path, kind: str, more: int) -> None:
    prefix = Made(tmp_path)
    prefix.file("include/hip/hip_runtime.h", "")
    place, text = {
        "a text": ("lib/cmake/hip/hip-config.cmake", "#" + "x" * ((1 << 21) - 2 + more)),
        "a text of pkg-config": ("lib/pkgconfig/hip.pc", "#" + "x" * ((1 << 16) - 1 + more)),
        "blocks": (
            "lib/cmake/hip/hip-config.cmake",
            "block()\n" * (23 + more) + "set(x y)\n" + "endblock()\n" * (23 + more),
        ),
        "packages": (
            "lib/cmake/hip/hip-config.cmake",
            DEPENDENCY + "".join(f"find_package(hip{number} REQUIRED)\n" for number in range(128 + more)),
        ),
    }[kind]
    prefix.file(place, text)
    not_tried = limited_test(prefix.root)[1]
    assert any(each.startswith(f"{place}: not read to the end") for each in not_tried) == bool(more)


def test_targets_that_were_not_read_are_not_missing(tmp_path: Path) -> None:
    """The text that defines a target may lie behind those that are read."""
    prefix = Made(tmp_path)
    prefix.file("lib/cmake/hip/hip-config.cmake", f"{TARGET}INTERFACE_LINK_LIBRARIES hip::late)\n{ENDLESS['turns']}")
    prefix.file("lib/cmake/hip/hip-late.cmake", "add_library(hip::late INTERFACE IMPORTED)\n")
    prefix.file("lib/libhip.so", "")
    found = run_on_prefix(prefix.root, "--only", "devel")
    assert CODE not in found.codes
    (said,) = (each for each in found.subject("devel")["not_tried"] if "not read to the end" in each)
    assert said.startswith("lib/cmake/hip/hip-config.cmake and 1 more text: ")


def test_texts_behind_the_most_are_not_checked(tmp_path: Path) -> None:
    prefix = Made(tmp_path)
    prefix.file("include/hip/hip_runtime.h", "")
    for name in ("a", "b"):
        prefix.file(f"lib/cmake/hip/hip-{name}.cmake", f"#{'x' * (3 << 20)}\n")
    passed, not_tried = limited_test(prefix.root)
    assert "lib/cmake/hip/hip-a.cmake" in passed
    assert "lib/cmake/hip/hip-b.cmake" not in passed
    assert any(each.startswith("lib/cmake/hip/hip-b.cmake and what follows: ") for each in not_tried)


def test_a_large_sdk_is_read(tmp_path: Path) -> None:
    """100 packages with 30 libraries each, more than any ROCm has."""
    prefix = Made(tmp_path)
    for package in range(100):
        place, names = f"lib/cmake/roc{package}", [f"roc{package}::lib{number}" for number in range(30)]
        targets = EXPORT.replace("ITEMS hip::hip", f"ITEMS {' '.join(names)}")
        made = "".join(f"add_library({name} SHARED IMPORTED)\n" for name in names)
        targets = targets.replace("add_library(hip::hip SHARED IMPORTED)\n", made).replace("hip-targets", "roc-targets")
        prefix.file(f"{place}/roc{package}-config.cmake", INCLUDE.replace("hip-%s", "roc-targets"))
        prefix.file(f"{place}/roc-targets.cmake", targets)
        files = [f"lib{number}.so" for number in range(len(names))]
        release = [(RELEASE % (file, file)).replace("hip::hip", name) for name, file in zip(names, files, strict=True)]
        prefix.file(f"{place}/roc-targets-release.cmake", "".join(release))
    for file in files:
        prefix.file(f"lib/{file}", "")
    passed, not_tried = limited_test(prefix.root)
    assert "the 30 paths in lib/cmake/roc99/roc-targets-release.cmake" in passed
    assert not [each for each in not_tried if "not read" in each]


# ---- installed trees


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    return DevelSite(tmp_path / "site-packages")


def install(site: DevelSite, texts: dict[str, str]) -> None:
    own = [each for each in sample_members() if not each[0].name.endswith(".cmake")]
    place = "_rocm_sdk_devel/lib/cmake/{0}/{0}-config.cmake"
    files = [member(place.format(name), text.encode()) for name, text in texts.items()]
    site.install_sdk(members=[*own, *files])
    site.command("init", "--quiet")


def told(site: DevelSite) -> list[tuple[str, str, str]]:
    """Return code, cause and fix of the problems that `test` finds in the tree, notes left out."""
    done = site.command("test", "--only", "devel", "--json", check=False)
    found = json.loads(done.stdout)["problems"]
    assert done.returncode == int(any(each["severity"] == "error" for each in found))
    return [(each["code"], each["cause"], each["fix"]) for each in found if each["severity"] != "note"]


MANY = ("hipblas", "hiprand", "rocrand", "rocsparse", "rocthrust")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            {"hip": DEPENDENCY + "find_dependency(hsa-runtime64)\nfind_dependency(Threads)\n"},
            "package hip requires hsa-runtime64",
        ),
        (
            dict.fromkeys(MANY, DEPENDENCY + "find_dependency(hip)\n"),
            "packages hipblas, hiprand, rocrand and 2 more require hip",
        ),
        (
            {"hip": PREFIX + 'set_and_check(hip_LIBRARY "${PREFIX}/lib/liboam.so.1.0")\n'},
            "hip_LIBRARY is {tree}/lib/liboam.so.1.0",
        ),
    ],
    ids=["a package", "of many", "a file"],
)
def test_a_tree_without_what_its_packages_require(site: DevelSite, texts: dict[str, str], said: str) -> None:
    """One missing package is one problem."""
    install(site, texts)
    ((code, cause, fix),) = told(site)
    assert (code, cause) == (CODE, f"{said.format(tree=site.tree)}, which the tree lacks")
    assert "Tell the builder of rocm-sdk-devel" in fix


def test_what_was_lost_is_told_once(site: DevelSite) -> None:
    """A file that the tree had has its own problem, and a fix that brings it back."""
    text = DEPENDENCY + PREFIX + 'find_dependency(hsa)\nset_and_check(x "${PREFIX}/lib/libamdhip64.so.7")\n'
    install(site, {"hip": text, "hsa": "set(hsa 1)\n"})
    assert told(site) == []
    shutil.rmtree(site.tree / "lib/cmake/hsa")
    (site.tree / "lib/libamdhip64.so.7").unlink()
    assert {code for code, _, _ in told(site)} == {"E-DEVEL-002"}


@pytest.mark.parametrize(("package", "name"), [("hsakmt", "NUMA"), ("rocm_smi", "Systemd")])
def test_a_package_that_nobody_has(site: DevelSite, tmp_path: Path, package: str, name: str) -> None:
    """A note names it, and not the packages of CMake; a project that brings a module for it finds ROCm's package."""
    install(site, {package: DEPENDENCY + f"find_dependency(Threads)\nfind_dependency({name} 1)\n"})
    done = site.command("test", "--only", "devel", "--json", check=False)
    (found,) = (each for each in json.loads(done.stdout)["problems"] if each["code"] == "N-PREFIX-011")
    assert done.returncode == int(bool(told(site)))
    assert found["severity"] == "note"
    assert found["cause"] == f"package {package} requires {name}, which the tree lacks"
    assert f"Find{name}.cmake" in found["fix"]
    (tmp_path / f"modules/Find{name}.cmake").parent.mkdir()
    (tmp_path / f"modules/Find{name}.cmake").write_text(f"set({name}_FOUND TRUE)\n")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(user LANGUAGES C)", f"find_package({package} REQUIRED)"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    command = [CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={site.tree}/lib/cmake"]
    assert f'provided by "{name}"' in completed(command, timeout=120).stderr
    done = completed([*command, f"-DCMAKE_MODULE_PATH={tmp_path}/modules"], timeout=120)
    assert done.returncode == 0, done.stderr


def test_what_a_project_finds_with_env(site: DevelSite, tmp_path: Path) -> None:
    """It finds the SDK's hip before that of a system in PATH or CMAKE_PREFIX_PATH, and not the SDK's LLVM."""
    install(site, {"hip": "set(hip_FOUND TRUE)\n"})
    own, system = site.tree / "lib/llvm/lib/cmake/llvm/LLVMConfig.cmake", tmp_path / "rocm"
    for path in (own, system / "lib/cmake/hip/hip-config.cmake", system / "lib/cmake/llvm/LLVMConfig.cmake"):
        path.parent.mkdir(parents=True)
        path.write_text("set(x 1)\n")
    (system / "bin").mkdir()
    variables = json.loads(site.command("env", "--json").stdout)["prepend"]
    prepended = {name: f"{variables[name]}:{old}" for name, old in (("CMAKE_PREFIX_PATH", system), ("PATH", "/bin"))}
    prepended["PATH"] = prepended["PATH"].replace(":/bin", f":{system}/bin:/usr/bin:/bin")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(user LANGUAGES C)"]
    for name in ("hip", "LLVM"):
        lines += [f"find_package({name} REQUIRED PATHS {system})", f'message(STATUS "found: ${{{name}_DIR}}")']
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    done = completed([CMAKE, "-S", tmp_path, "-B", tmp_path / "build"], env=os.environ | prepended, timeout=120)
    found = [line.partition("found: ")[2] for line in done.stdout.splitlines() if "found: " in line]
    assert found == [f"{site.tree}/lib/cmake/hip", f"{system}/lib/cmake/llvm"], done.stderr


# ---- packages before anyone has them


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEPENDENCY + "find_dependency(hsa-runtime64)", "package hip requires hsa-runtime64"),
        (
            PREFIX + 'set_and_check(x "${PREFIX}/lib/liboam.so.1.0")',
            "lib/cmake/hip/hip-config.cmake: x is lib/liboam.so.1.0",
        ),
        (PREFIX + 'set_and_check(x "${PREFIX}/lib/libamdhip64.so")', None),
        (PREFIX + 'set_and_check(x "${PREFIX}/llvm/bin/clang")', None),
        (PREFIX + 'set_and_check(x "${PREFIX}/include")', None),
    ],
)
def test_check_before_they_are_shipped(tmp_path: Path, text: str, said: str | None) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("core-hip_dev_generic", "lib/cmake/hip/hip-config.cmake", f"{text}\n")
    dist = built(tree.root, tmp_path / "dist")
    found = problems(dist)
    if said is None:
        assert found == []
    else:
        ((file, what, fix),) = found
        assert file == path_of(dist, "rocm_sdk_devel").name
        assert what == f"has a package for CMake or pkg-config that cannot be used: {said}, which the tree lacks"
        assert fix.startswith("make it again from artifacts that have it")


def test_check_notes_a_package_that_nobody_has(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("core-hip_dev_generic", "lib/cmake/hsakmt/hsakmt-config.cmake", DEPENDENCY + "find_dependency(NUMA)\n")
    done = check(built(tree.root, tmp_path / "dist"))
    assert done.returncode == 0
    assert "note: package hsakmt requires NUMA, which the tree lacks; CMake has no module for it" in done.stderr


# ---- prefixes


def test_a_package_of_a_prefix(tmp_path: Path) -> None:
    """The packages of the build root, and of places that CMake is told to search, count."""
    prefix = Made(tmp_path / "rocm")
    prefix.file("include/hip/hip_runtime.h", "")
    prefix.file("lib/cmake/rocrand/rocrand-config.cmake", DEPENDENCY + "find_dependency(hip)\n")
    found = run_on_prefix(prefix.root, "--only", "devel").only(CODE)
    assert found["cause"] == "package rocrand requires hip, which is in neither the prefix nor the build root"
    other = Made(tmp_path / "other")
    other.file("lib/cmake/hip-7/hipConfig.cmake", "")
    words = {"CMAKE_PREFIX_PATH": f"/nowhere:{other.root}"}
    assert CODE not in run_on_prefix(prefix.root, "--only", "devel", **words).codes
