"""A CMake project built against the development tree that Debian's -dev packages make, as frameworks build theirs."""

import json
import os
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm
from ended import succeeded
from programs import completed
from sample_site import clean_environment

SCRIPTS = Path(sysconfig.get_path("scripts"))

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(numbers CXX)
find_package(rocrand REQUIRED)
find_package(hip REQUIRED)
find_package(ROCM REQUIRED)
add_executable(numbers numbers.cpp)
target_link_libraries(numbers PRIVATE roc::rocrand hip::host)
file(WRITE "${CMAKE_BINARY_DIR}/found" "${rocrand_DIR}\\n${hip_DIR}\\n${ROCM_DIR}\\n${AMDDeviceLibs_DIR}\\n")
get_target_property(bitcode ocml IMPORTED_LOCATION)
file(APPEND "${CMAKE_BINARY_DIR}/found" "${bitcode}\\n")
"""
PROGRAM = """\
#include <cstdio>
#include <hip/hip_runtime_api.h>
#include <rocrand/rocrand.h>

int main() {
    int hip_version = 0, random_version = 0;
    if (hipRuntimeGetVersion(&hip_version) != hipSuccess) return 1;
    if (rocrand_get_version(&random_version) != ROCRAND_STATUS_SUCCESS) return 2;
    std::printf("%d %d\\n", hip_version, random_version);
    return 0;
}
"""


@pytest.mark.parametrize("shape", ["none", "rpath"])
def test_a_project_finds_the_sdk_links_and_runs(
    copy_of_debian_sdk: Callable[[str], Path], tmp_path: Path, shape: str
) -> None:
    site = copy_of_debian_sdk(shape)
    environment = clean_environment() | {"PYTHONPATH": str(site)}

    def run(*command: str) -> str:
        result = completed(command, env=environment, cwd=tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.strip()

    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "numbers.cpp").write_text(PROGRAM)
    rocm_sdk, cmake = str(SCRIPTS / "rocm-sdk"), str(SCRIPTS / "cmake")
    prefix = run(rocm_sdk, "path", "--cmake")
    # The CMake package of HIP wants clang's run-time library; gcc's has what a host program can need of it.
    builtins = run("gcc", "-print-libgcc-file-name")
    run(cmake, "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCLANGRT_BUILTINS={builtins}")
    root = site / "_rocm_sdk_devel"
    assert [*map(os.path.normpath, (tmp_path / "build/found").read_text().split())] == [
        f"{root}/lib/cmake/rocrand",
        f"{root}/lib/cmake/hip",
        f"{root}/lib/cmake/rocm",
        f"{root}/lib/cmake/AMDDeviceLibs",
        f"{root}/lib/llvm/amdgcn/bitcode/ocml.bc",
    ]
    run(rocm_sdk, "run", cmake, "--build", "build")
    assert run(rocm_sdk, "run", "build/numbers") == f"{rocm().hip_version} {rocm().rocrand_version}"


def test_tools_and_pkgconfig_know_where_they_are(copy_of_debian_sdk: Callable[[str], Path]) -> None:
    site = copy_of_debian_sdk("none")
    environment = clean_environment() | {"PYTHONPATH": str(site)}
    variables = json.loads(succeeded([SCRIPTS / "rocm-sdk", "env", "--json"], env=environment).stdout)
    root = variables["set"]["ROCM_PATH"]
    assert root == str(site / "_rocm_sdk_devel")
    assert Path(variables["set"]["HIP_DEVICE_LIB_PATH"], "ocml.bc").is_file()
    assert shutil.which("perl"), "hipconfig is a Perl program; Debian always has Perl"
    told = succeeded([f"{root}/bin/hipconfig", "--rocmpath"], env=environment)
    assert Path(told.stdout).samefile(root)
    pkgconf = ["pkgconf", "--cflags", "--libs", "libhsakmt"]
    environment["PKG_CONFIG_PATH"] = variables["prepend"]["PKG_CONFIG_PATH"]
    flags = succeeded(pkgconf, env=environment).stdout.split()
    places = {Path(flag[2:]).resolve() for flag in flags if flag.startswith(("-I", "-L"))}
    assert places == {Path(root, "include"), Path(root, "lib")}
    assert "-lhsakmt" in flags
