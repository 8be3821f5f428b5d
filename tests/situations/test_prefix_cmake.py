"""The verdict of `rocm-sdk test --sdk` on packages that CMake has written, beside the verdict of find_package."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from programs import completed
from sample_prefix import run_on_prefix

PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(rocthing VERSION 7.1.0 LANGUAGES C)
include(CMakePackageConfigHelpers)
file(WRITE ${CMAKE_BINARY_DIR}/thing.c "int thing(void) { return 1; }")
file(WRITE ${CMAKE_BINARY_DIR}/rocthing.h "int thing(void);")
file(WRITE ${CMAKE_BINARY_DIR}/in.cmake "@PACKAGE_INIT@
set_and_check(rocthing_INCLUDE_DIR \\"@PACKAGE_INCLUDE@\\")
include(\\${CMAKE_CURRENT_LIST_DIR}/rocthing-targets.cmake)
")
add_library(rocthing SHARED ${CMAKE_BINARY_DIR}/thing.c)
set_target_properties(rocthing PROPERTIES VERSION 1.2 SOVERSION 1)
target_include_directories(rocthing INTERFACE $<INSTALL_INTERFACE:include/rocthing>)
set(INCLUDE include/rocthing)
set(place ${LIBRARIES}/cmake/rocthing)
configure_package_config_file(${CMAKE_BINARY_DIR}/in.cmake rocthing-config.cmake
    INSTALL_DESTINATION ${place} PATH_VARS INCLUDE)
write_basic_package_version_file(rocthing-config-version.cmake COMPATIBILITY SameMajorVersion)
install(TARGETS rocthing EXPORT rocthing-targets LIBRARY DESTINATION ${LIBRARIES})
install(FILES ${CMAKE_BINARY_DIR}/rocthing.h DESTINATION include/rocthing)
install(EXPORT rocthing-targets NAMESPACE roc:: DESTINATION ${place})
install(FILES ${CMAKE_BINARY_DIR}/rocthing-config.cmake ${CMAKE_BINARY_DIR}/rocthing-config-version.cmake
    DESTINATION ${place})
"""
USER = """\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES NONE)
find_package(rocthing 7.1 CONFIG REQUIRED)
"""
CMAKE = Path(sysconfig.get_path("scripts"), "cmake")  # of PyPI, a requirement of the tests


def cmake(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return completed([CMAKE, *words], env=os.environ | variables, timeout=120)


@pytest.fixture(params=["lib", "lib/x86_64-linux-gnu"])
def destdir(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the directory with a library and its package, configured for /opt/rocm-7.1 and installed with DESTDIR."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/CMakeLists.txt").write_text(PROJECT)
    words = ["-DCMAKE_INSTALL_PREFIX=/opt/rocm-7.1", f"-DLIBRARIES={request.param}", "-DCMAKE_BUILD_TYPE=Release"]
    for done in (
        cmake("-S", tmp_path / "source", "-B", tmp_path / "build", *words),
        cmake("--build", tmp_path / "build"),
        cmake("--install", tmp_path / "build", DESTDIR=str(tmp_path / "stage")),
    ):
        assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / "stage"


def is_found(destdir: Path) -> bool:
    """Return whether CMake takes the package, at the place where it is now."""
    user = destdir.parent / "user"
    shutil.rmtree(user, ignore_errors=True)
    user.mkdir()
    (user / "CMakeLists.txt").write_text(USER)
    (config,) = destdir.glob("opt/rocm-7.1/lib*/**/rocthing-config.cmake")
    done = cmake("-S", user, "-B", user / "build", f"-Drocthing_DIR={config.parent}")
    return done.returncode == 0


def test_a_package_of_cmake_is_judged_as_cmake_does(destdir: Path) -> None:
    root = destdir / "opt/rocm-7.1"
    words = ("--destdir", str(destdir))
    said = run_on_prefix(root, *words)
    assert said.status == 0, said.problems
    assert not [each for each in said.problems if each["severity"] != "note"]
    assert said.subject("devel")["count"] == 7  # 4 texts, and 3 that name paths
    assert is_found(destdir)

    (library,) = root.glob("lib*/**/librocthing.so.1.2")
    library.rename(root / "elsewhere")
    said = run_on_prefix(root, *words, "--only", "devel")
    assert said.only("E-PREFIX-009")["facts"]["name"].endswith("/librocthing.so.1.2")  # type: ignore[index]
    assert not is_found(destdir)
    (root / "elsewhere").rename(library)
    assert is_found(destdir)

    (root / "include/rocthing").rename(root / "include/other")
    said = run_on_prefix(root, *words, "--only", "devel")
    found = [each for each in said.problems if each["code"] == "E-PREFIX-009"]
    assert {Path(each["path"]).name for each in found} == {"rocthing-config.cmake", "rocthing-targets.cmake"}
    assert not is_found(destdir)
