"""HIP compiled by a clang of a distribution, with the variables of `rocm-sdk env --compiler`: no GPU is needed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from debian_sdk import rocm
from programs import completed
from sample_site import clean_environment

from rocm_sdk import device_code
from rocm_sdk_build.inputs.apt import Apt

pytestmark = pytest.mark.slow

BUILD = Path(__file__).resolve().parents[2] / "build"
SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
PAGE = BUILD.parent / "docs/devel.md"
SOURCE = """
#include <hip/hip_runtime.h>
__global__ void saxpy(float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + sinf(y[i]);
}
int main() {
    float *x = nullptr, *y = nullptr;
    saxpy<<<1, 64>>>(2.0f, x, y);
    return hipDeviceSynchronize() == hipErrorNoDevice ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, str]]:
    """Yield the environment in which the compiler and its tools find each other.

    The variable RESOURCES is the directory of the compiler's headers. The unpacked packages go afterwards.
    """
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no packages to take the compiler from")
    version = rocm().clang
    names = [f"clang-{version}", f"clang-tools-{version}", f"lld-{version}", f"llvm-{version}"]
    names += [f"libclang-common-{version}-dev", *rocm().clang_libraries]
    apt = Apt(BUILD / "vanilla-clang")
    packages = [package for package in apt.closure(names, ()) if package.name in names]
    roots = list(apt.unpack(packages).values())
    (resources,) = (
        path for root in roots for path in root.glob(f"usr/lib/llvm-{version}/lib/clang/*/include/stddef.h")
    )
    for runtime in (path for root in roots for path in root.glob(f"usr/lib/llvm-{version}/lib/clang/*/lib")):
        if not (resources.parents[1] / "lib").exists():  # the driver finds it where its headers are
            (resources.parents[1] / "lib").symlink_to(runtime)
    yield {
        "PATH": ":".join([*(str(root / f"usr/lib/llvm-{version}/bin") for root in roots), os.environ["PATH"]]),
        "LD_LIBRARY_PATH": ":".join(str(place) for root in roots for place in root.glob("usr/lib/*-linux-gnu")),
        "RESOURCES": str(resources.parents[1]),
    }
    apt.forget(packages)


def test_a_source_compiles_for_two_targets(
    copy_of_debian_sdk: Callable[[str], Path], tools: dict[str, str], tmp_path: Path
) -> None:
    site = copy_of_debian_sdk("rpath")
    environment = clean_environment() | {"PYTHONPATH": str(site)}
    command = [str(SCRIPT), "env", "--compiler", "clang", "--targets", "gfx1030,gfx906", "--json"]
    asked = completed(command, env=environment | {"PATH": tools["PATH"]})
    assert asked.returncode == 0, asked.stderr
    variables = json.loads(asked.stdout)["set"]
    source = tmp_path / "saxpy.hip"
    source.write_text(SOURCE)
    flags = ["-x", "hip", *shlex.split(variables["HIPFLAGS"]), f"-resource-dir={tools['RESOURCES']}"]
    compiled = completed(
        [variables["HIPCXX"], *flags, "-c", str(source), "-o", str(tmp_path / "saxpy.o")], env=environment | tools
    )
    assert compiled.returncode == 0, compiled.stderr
    code = device_code(tmp_path / "saxpy.o")
    assert [each.target for each in code.targets] == ["gfx906", "gfx1030"]


PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(saxpy LANGUAGES HIP)
add_library(saxpy OBJECT saxpy.hip)
"""


def test_cmake_compiles_hip_beside_cuda(
    copy_of_debian_sdk: Callable[[str], Path], tools: dict[str, str], tmp_path: Path
) -> None:
    """CMake asks hipconfig for the platform, which answers nvidia where it finds nvcc and no `clang++`."""
    site = copy_of_debian_sdk("none")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nvcc").write_text("#!/bin/sh\necho 'this is CUDA' >&2\nexit 1\n")
    (programs / "nvcc").chmod(0o755)
    driver = shutil.which("clang++", path=tools["PATH"])
    assert driver is not None
    (programs / f"clang++-{rocm().clang}").symlink_to(driver)
    for each in (each for place in tools["PATH"].split(":") for each in Path(place).glob("*")):
        if each.name != "clang++" and not (programs / each.name).exists():
            (programs / each.name).symlink_to(each)
    environment = clean_environment() | tools | {"PYTHONPATH": str(site), "PATH": str(programs)}
    environment["HIP_CLANG_PATH"] = str(programs)  # where hipconfig looks; a Debian with clang has one
    command = [str(SCRIPT), "env", "--compiler", f"clang-{rocm().clang}", "--targets", "gfx1030", "--json"]
    told = json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    environment |= told["set"]
    environment["HIPFLAGS"] += f" -resource-dir={tools['RESOURCES']}"
    for name, value in told["prepend"].items():
        environment[name] = f"{value}:{environment.get(name, '')}".rstrip(":")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "saxpy.hip").write_text(SOURCE)
    cmake = SCRIPT.with_name("cmake")
    # The CMake package of HIP wants clang's run-time library; gcc's has what a host program can need of it.
    builtins = subprocess.check_output(["gcc", "-print-libgcc-file-name"], text=True).strip()
    configure = ["-S", str(tmp_path), "-B", str(tmp_path / "out"), f"-DCLANGRT_BUILTINS={builtins}"]
    configure += ["-DCMAKE_TRY_COMPILE_PLATFORM_VARIABLES=CLANGRT_BUILTINS"]
    for words in (configure, ["--build", str(tmp_path / "out")]):
        command = [str(SCRIPT), "run", str(cmake), *words]  # the linker finds what the SDK's libraries need
        done = completed(command, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (tmp_path / "out").rglob("saxpy.hip.o")
    assert [each.target for each in device_code(made).targets] == ["gfx1030"]


def test_the_project_of_the_page_in_the_language_hip(
    copy_of_debian_sdk: Callable[[str], Path], tools: dict[str, str], tmp_path: Path
) -> None:
    """CMake compiles its kernel, links it with HIP, which has no RPATH, and it starts: without a GPU HIP says so."""
    site = copy_of_debian_sdk("none")
    _, project = re.findall(r"```cmake\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "CMakeLists.txt").write_text(project)
    main = 'int main() { int count; std::printf("%s\\n", hipGetErrorName(hipGetDeviceCount(&count))); }'
    (tmp_path / "saxpy.hip").write_text(f"#include <cstdio>\n{SOURCE.partition('int main')[0]}{main}\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("rocm-sdk", "cmake"):
        (programs / name).symlink_to(SCRIPT.with_name(name))
    variables = clean_environment() | tools | {"PYTHONPATH": str(site)}
    variables["PATH"] = f"{programs}:{variables['PATH']}"
    lines = f"""
        eval "$(rocm-sdk env --compiler clang++ --targets gfx1030)"
        export HIPFLAGS="$HIPFLAGS -resource-dir={tools["RESOURCES"]}"
        cmake -B build
        cmake --build build
        rocm-sdk run build/saxpy
    """
    done = completed(["sh", "-e", "-c", lines], env=variables, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] in {"hipErrorNoDevice", "hipSuccess"}
    assert [each.target for each in device_code(tmp_path / "build/saxpy").targets] == ["gfx1030"]
