"""The places where other tools find ROCm by themselves: their own unmodified code, on an SDK with a development tree.

The table in docs/devel.md says the same. Tools that have to be downloaded are skipped where that is impossible.
"""

import os
import shlex
import shutil
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import succeeded
from fetched_packages import BUILD, install, install_torch, tag
from programs import completed
from sample_report import run_test
from sample_site import CORE, clean_environment

from rocm_sdk_build.inputs.rules import Script
from rocm_sdk_build.packages.trampoline import Place, write_trampoline

pytestmark = pytest.mark.slow

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
DEVEL = "_rocm_sdk_devel"
DISCOVERY = "torch/utils/cpp_extension.py"
TRITON = ("triton==3.9.0",)

FIND_ROCM_HOME = """
import importlib.util, sys
import torch.utils
spec = importlib.util.spec_from_file_location("torch.utils.cpp_extension", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module._find_rocm_home())
"""


@pytest.fixture
def site(copy_of_debian_sdk: Callable[[str], Path]) -> Path:
    """Return an SDK whose development tree is not extracted."""
    return copy_of_debian_sdk("none")


def rocm_sdk(site: Path, *words: str) -> str:
    environment = clean_environment() | {"PYTHONPATH": str(site)}
    done = succeeded([SCRIPT, *words], env=environment)
    return done.stdout.rstrip("\n")


def variables_for_extensions(site: Path) -> dict[str, str]:
    """Return the variables that a shell makes of `rocm-sdk env --for torch-extension`."""
    words = shlex.split(rocm_sdk(site, "env", "--for", "torch-extension"))
    return dict(word.split("=", 1) for word in words if word != "export")


# ---- torch


@pytest.fixture(scope="module")
def torch() -> Path:
    directory, problem = install_torch()
    if problem:
        pytest.skip(f"no CPU build of torch can be installed for this Python: {problem}")
    return directory


def discovery_of(release: str, torch: Path) -> Path:
    """Return the file of a release of torch that looks for ROCm.

    The file is the same in torch's wheels for every system.
    """
    if release == "2.13.0":
        return torch / DISCOVERY
    directory = BUILD / f"torch-discovery-{release}"
    if not (directory / DISCOVERY).exists():
        platform = ("--platform", "macosx_14_0_arm64", "--python-version", "3.12", "--only-binary", ":all:")
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *platform, "-d", str(directory)]
        environment = os.environ | {"PIP_CONSTRAINT": os.devnull, "PIP_CONFIG_FILE": os.devnull}
        environment.pop("PIP_FIND_LINKS", None)
        done = completed([*command, f"torch=={release}"], env=environment)
        if done.returncode != 0:
            pytest.skip(f"torch {release} cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
        (wheel,) = directory.glob("torch-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(DISCOVERY, directory)
        wheel.unlink()
    return directory / DISCOVERY


def home_of_torch(release: str, torch: Path, site: Path, **variables: str) -> tuple[Path, str]:
    """Return the directory that a release of torch takes for ROCm's root, and its messages about the directory."""
    environment = clean_environment() | {"PYTHONPATH": f"{site}:{torch}"} | variables
    done = succeeded([sys.executable, "-c", FIND_ROCM_HOME, str(discovery_of(release, torch))], env=environment)
    return Path(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize(
    ("release", "with_tree", "warns"), [("2.13.0", CORE, False), ("2.14.0", CORE, False), ("2.15.0", DEVEL, True)]
)
def test_torch(site: Path, torch: Path, release: str, with_tree: str, warns: bool) -> None:
    home, said = home_of_torch(release, torch, site)
    assert home == (site / CORE).resolve()
    assert ("rocm-sdk init" in said) == warns
    assert run_test(site, "--only", "devel").only("N-DEVEL-013")["fix"] == "rocm-sdk init"
    assert rocm_sdk(site, "path", "--home") == str(site / DEVEL)
    assert run_test(site, "--only", "devel").codes.isdisjoint({"N-DEVEL-013"})
    home, said = home_of_torch(release, torch, site)
    assert home == (site / with_tree).resolve()
    assert "rocm-sdk init" not in said
    variables = variables_for_extensions(site)
    assert variables == {"ROCM_HOME": str(site / DEVEL)}
    assert home_of_torch(release, torch, site, **variables)[0] == site / DEVEL


# ---- hipconfig, CMake, triton


def test_hipconfig(site: Path) -> None:
    """The environment's command starts the tree's program, which answers the tree; core's own program answers core."""
    environment = site.with_name("venv")
    packages = environment / "lib/python3.12/site-packages"
    packages.parent.mkdir(parents=True)
    shutil.copytree(site, packages, copy_function=os.link, symlinks=True)
    (environment / "bin").mkdir()
    (dist_info,) = packages.glob("rocm_sdk_core-*.dist-info")
    place = Place(CORE, dist_info.name, DEVEL, "")
    assert write_trampoline(environment / "bin/hipconfig", Script("hipconfig", "bin/hipconfig", True), place)

    def told(program: Path, **variables: str) -> Path:
        done = succeeded([program, "--rocmpath"], env=clean_environment() | variables)
        return Path(done.stdout.strip()).resolve()

    rocm_sdk(packages, "path", "--home")
    command = environment / "bin/hipconfig"
    core, tree = (packages / CORE).resolve(), (packages / DEVEL).resolve()
    assert told(command) == tree
    assert told(core / "bin/hipconfig") == core
    assert told(core / "bin/hipconfig", ROCM_PATH=str(tree)) == tree


def test_find_hip_of_cmake(site: Path, tmp_path: Path) -> None:
    """HIP's module for `find_package(HIP MODULE)`, as older projects use it."""
    tree = Path(rocm_sdk(site, "path", "--home"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(sample CXX)\nfind_package(HIP MODULE QUIET)\n"
        'file(WRITE ${CMAKE_BINARY_DIR}/found "${HIP_ROOT_DIR}")\n'
    )

    def found(**variables: str) -> str:
        command = [SCRIPT.with_name("cmake"), "-S", tmp_path, "-B", tmp_path / "build", "--fresh"]
        succeeded([*command, f"-DCMAKE_MODULE_PATH={tree}/lib/cmake/hip"], env=clean_environment() | variables)
        return (tmp_path / "build/found").read_text()

    assert found() == "HIP_ROOT_DIR-NOTFOUND"
    assert found(ROCM_PATH=str(tree)) == str(tree)


def test_triton(site: Path) -> None:
    """The AMD driver of Triton asks rocm_sdk for the library, and needs no root."""
    triton = BUILD / f"triton-{tag()}"
    if problem := install(triton, *TRITON):
        pytest.skip(f"triton cannot be installed for this Python: {problem}")
    for name in ("bin", "lib"):  # what it has for NVIDIA takes a third of its disk, and nothing here uses it
        shutil.rmtree(triton / "triton/backends/nvidia" / name, ignore_errors=True)
    program = "from triton.backends.amd import driver\nprint(driver._get_path_to_hip_runtime_dylib())"
    environment = clean_environment() | {"PYTHONPATH": f"{site}:{triton}"}
    done = succeeded([sys.executable, "-c", program], env=environment)
    assert Path(done.stdout.strip()) == site / CORE / "lib/libamdhip64.so.5"
