"""What a real CMake says of the packages of a tree, each asked for alone, with compilers that are made up."""

import re
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from programs import completed

CMAKE = Path(sysconfig.get_path("scripts"), "cmake")  # of PyPI, a requirement of the tests
TOOLCHAIN = """\
set(CMAKE_HAVE_LIBC_PTHREAD TRUE)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER /bin/true)
  set(CMAKE_${language}_COMPILER_FORCED TRUE)
  set(CMAKE_${language}_COMPILER_ID_RUN TRUE)
  set(CMAKE_${language}_COMPILER_ID GNU)
  set(CMAKE_${language}_COMPILER_VERSION 12)
endforeach()
set(CMAKE_SIZEOF_VOID_P 8)
"""
# What a package leaves: each path and target that its targets name and that is not there.
LOOK = r"""
function(look target property)
  get_target_property(value ${target} ${property})
  foreach(each IN LISTS value)
    if(each MATCHES "^/" AND NOT each MATCHES "[$]<" AND NOT EXISTS "${each}")
      message(STATUS "missing: ${each}")
    endif()
    string(REGEX MATCHALL "[A-Za-z_0-9][A-Za-z0-9_.+-]*::[A-Za-z0-9_.+:-]+" linked "${each}")
    foreach(name IN LISTS linked)
      if(property MATCHES "LINK" AND NOT TARGET ${name})
        message(STATUS "missing: ${name}")
      endif()
    endforeach()
  endforeach()
endfunction()
function(look_at_all)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(each INTERFACE_INCLUDE_DIRECTORIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES INTERFACE_LINK_LIBRARIES
                 IMPORTED_LOCATION IMPORTED_IMPLIB)
      look(${target} ${each})
    endforeach()
    foreach(each IN LISTS configurations)
      look(${target} IMPORTED_LOCATION_${each})
    endforeach()
  endforeach()
endfunction()
"""
PACKAGE = "find_package({0} CONFIG REQUIRED NO_DEFAULT_PATH PATHS {1})\nlook_at_all()\n"
_LEFT_OUT = {"hip-lang"}  # of CMake's language HIP, which asks for it itself
_ABSENT = re.compile(r'package\s+configuration\s+file\s+provided\s+by\s+"([^"]+)"')
_NAMED = re.compile(
    r"File or directory\s+(\S+)\s+referenced|include could not find requested file:\s+(\S+)|"
    r"(\S+):\s+there\s+is\s+no\s+such\s+file|references\s+the\s+file\s+\"([^\"]+)\""
)


def missing(root: Path, packages: dict[str, Path], place: Path) -> set[str]:
    """Return the names of what is missing; of a package that ends CMake, the package, file or words that it says.

    packages: the directories of their files, by the names.
    """
    left, found = [name for name in packages if name not in _LEFT_OUT], set[str]()
    while left:
        said, stopped = _ask(root, {name: packages[name] for name in left}, place)
        found |= said
        left = left[left.index(stopped) + 1 :] if stopped else []
    return found


def _ask(root: Path, packages: dict[str, Path], place: Path) -> tuple[set[str], str]:
    """Return what is missing, and the package with which CMake has ended; "" if it has not."""
    place.mkdir(exist_ok=True)
    (place / "toolchain.cmake").write_text(TOOLCHAIN)
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(user LANGUAGES C CXX)", LOOK]
    for number, (name, directory) in enumerate(packages.items()):
        part = place / f"{number}"
        part.mkdir(exist_ok=True)
        (part / "CMakeLists.txt").write_text(f'message(STATUS "asked for: {name}")\n' + PACKAGE.format(name, directory))
        lines.append(f"add_subdirectory({number})")
    (place / "CMakeLists.txt").write_text("\n".join(lines))
    build = place / "build"
    words = [f"-DCMAKE_TOOLCHAIN_FILE={place}/toolchain.cmake", "-DCMAKE_MAKE_PROGRAM=/bin/true", "--fresh"]
    words += [f"-DCMAKE_PREFIX_PATH={root}", "-G", "Unix Makefiles"]
    done = completed([CMAKE, "-S", place, "-B", build, *words], timeout=120)
    said = {line.partition("missing: ")[2] for line in done.stdout.splitlines() if "missing: " in line}
    if "CMake Error" not in done.stderr:
        return said, ""
    stopped = re.findall(r"asked for: (\S+)", done.stdout)[-1]
    return said | {_cause(done.stderr)}, stopped


def _cause(error: str) -> str:
    """Return the package or file that CMake names in its first error, or the words of the error."""
    text = error[error.index("CMake Error") :]
    for pattern in (_ABSENT, _NAMED):
        if (match := pattern.search(text)) is not None:
            return next(filter(None, match.groups()))
    return " ".join(text.split("\n\n")[0].split("\n", 1)[1].partition("Call Stack")[0].split())


def names(said: Iterable[str], root: Path) -> set[str]:
    """Return names without the tree's directory."""
    return {each.removeprefix(f"{root}/") for each in said}
