"""A CMake project built against the development tree that Debian's -dev packages make, as frameworks build theirs."""

import json
import os
import re
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path

import cmake_judge
import pytest
from debian_sdk import SOURCE, rocm
from ended import succeeded
from environments import empty_environment, installer_command
from programs import completed
from sample_site import clean_environment

from rocm_sdk.devel.cmake.package_faults import package_of

pytestmark = pytest.mark.slow

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


def test_every_package_as_cmake_says(copy_of_debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """A real CMake finds each package of the tree alone, and what these name; so does `test`."""
    site = copy_of_debian_sdk("none")
    variables = clean_environment() | {"PYTHONPATH": str(site)}
    assert completed([SCRIPTS / "rocm-sdk", "init", "--quiet"], env=variables).returncode == 0
    root = site / "_rocm_sdk_devel"
    packages = {name: path.parent for path in root.rglob("*.cmake") if (name := package_of(str(path))) is not None}
    assert {"hip", "rocrand", "amd_comgr"} < packages.keys()
    assert cmake_judge.missing(root, packages, tmp_path / "user") == set()
    said = completed([SCRIPTS / "rocm-sdk", "test", "--only", "devel", "--json"], env=variables, timeout=300)
    codes = {each["code"] for each in json.loads(said.stdout)["problems"]}
    assert not codes & {"E-PREFIX-009", "N-PREFIX-011", "E-DEVEL-003"}


PAGE = Path(__file__).resolve().parents[2] / "docs/devel.md"
DEBIAN = "libhiprand,librocm-smi64"  # what they require comes with them


def blocks(kind: str) -> list[str]:
    """Return the blocks of a kind in the part of the page that shows a project."""
    part = PAGE.read_text().partition("## A project,")[2].partition("\n## ")[0]
    return re.findall(rf"```{kind}\n(.*?)```", part, re.DOTALL)


@pytest.fixture
def shell(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that runs lines of the page in a project's directory.

    Debian's packages are installed there by pip.
    """
    (tmp_path / "project").mkdir()
    python = installed_debian(tmp_path)
    variables = clean_environment()
    variables["PATH"] = f"{python.parent}:{tmp_path / 'tools'}:{variables['PATH']}"
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/cmake").symlink_to(SCRIPTS / "cmake")

    def run(lines: str) -> str:
        done = completed(["sh", "-e", "-c", lines], env=variables, cwd=tmp_path / "project", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def installed_debian(directory: Path) -> Path:
    """Return the interpreter of an environment with some of Debian's packages and the loader, which comes with them."""
    rocm()
    command = [SCRIPTS / "rocm-sdk-build", "debian", "--packages", DEBIAN, "--shape", "none", "--no-wheel-compression"]
    succeeded([*command, "--cache", SOURCE.cache, "--output", directory / "wheels"], timeout=1200)
    python = empty_environment(directory / "venv")
    install = [*installer_command("pip", python, "install"), "--no-index", "--no-deps"]
    succeeded([*install, *(directory / "wheels").glob("*.whl")], timeout=300)
    return python


@pytest.mark.built_wheel
def test_the_project_of_the_page(shell: Callable[[str], str], tmp_path: Path) -> None:
    """CMake configures it, the linker finds all symbols in libraries without RPATH, and it starts; so with g++ alone.

    The tree has what its own packages require: the doctor says so, and CMake, of each of them.
    """
    project, (source,) = blocks("cmake")[0], blocks("cpp")
    with_cmake, with_compiler = blocks("sh")[:2]
    (tmp_path / "project/CMakeLists.txt").write_text(project)
    (tmp_path / "project/numbers.cpp").write_text(source)
    expected = f"HIP {rocm().hip_version}, rocRAND {rocm().rocrand_version}"
    assert shell(with_cmake).splitlines()[-1] == expected
    assert shell(with_compiler).splitlines()[-1] == expected
    found = json.loads(shell("rocm-sdk test --only devel --json"))["problems"]
    assert [each["code"] for each in found if each["severity"] != "note"] == []
    places = shell('ls "$(rocm-sdk path --cmake)"').split()
    assert {"hip", "hiprand", "hsa-runtime64", "rocm_smi", "rocrand"} <= {*places}
    packages = [each for each in places if each not in {"hip-lang", "rocm"}]  # hip-lang is for the language HIP
    lines = ["cmake_minimum_required(VERSION 3.21)", "project(every LANGUAGES CXX)"]
    lines += [f"find_package({name} CONFIG REQUIRED)" for name in (*packages, "ROCM")]
    lines += [
        "add_executable(every numbers.cpp)",
        "target_link_libraries(every hip::hiprand roc::rocrand hip::host rocm_smi64)",
    ]
    (tmp_path / "project/CMakeLists.txt").write_text("\n".join(lines))
    shell('eval "$(rocm-sdk env)"; cmake -B all; cmake --build all; rocm-sdk run all/every')


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
