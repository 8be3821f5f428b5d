"""The project to copy, docs/examples/extension, and what its page changes for other tools, as users build it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from environments import empty_environment, installer_command
from programs import completed
from sample_site import clean_environment

from rocm_sdk.testing import SampleSdk, write_sample_sdk

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "docs/examples/extension"
PAGE = (ROOT / "docs/example-extension.md").read_text(encoding="utf-8")
USE = "import hip_example; print(hip_example.device_count(), hip_example.why_no_rocm)"


def block(title: str, language: str) -> str:
    """Return the first block of a language in a section of the page."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def replace(file: Path, pattern: str, text: str) -> None:
    changed, count = re.subn(pattern, lambda _: text, file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert count == 1, pattern
    file.write_text(changed, encoding="utf-8")


def as_printed(_project: Path) -> None:
    pass


def with_pybind11(project: Path) -> None:
    (project / "_hip.cpp").write_text(block("pybind11", "cpp"), encoding="utf-8")
    (project / "_hip.c").unlink()
    replace(project / "CMakeLists.txt", r"^python_add_library.*?\n", block("pybind11", "cmake"))


def with_nanobind(project: Path) -> None:
    with_pybind11(project)
    replace(project / "_hip.cpp", r"pybind11/pybind11\.h", "nanobind/nanobind.h")
    replace(project / "_hip.cpp", r"PYBIND11_MODULE", "NB_MODULE")
    replace(project / "CMakeLists.txt", r"^find_package\(pybind11.*?_hip\.cpp\)\n", block("nanobind", "cmake"))


def with_setuptools(project: Path) -> None:
    (project / "CMakeLists.txt").unlink()
    (project / "setup.py").write_text(block("setuptools", "py"), encoding="utf-8")
    replace(project / "pyproject.toml", r"^\[build-system\].*?(?=^\[project\])", block("setuptools", "toml") + "\n")


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> SampleSdk:
    made = write_sample_sdk(tmp_path_factory.mktemp("sdk") / "site-packages")
    made.compile("amdhip64", "int hipGetDeviceCount(int *count) { *count = 2; return 0; }")
    return made


def build(project: Path, sdk: SampleSdk) -> Path:
    words = ["wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", "dist", "."]
    done = completed([sys.executable, "-m", "pip", *words], cwd=project, env=clean_environment() | sdk.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (project / "dist").glob("hip_example-1.0-*.whl")
    return wheel


@pytest.mark.built_wheel
@pytest.mark.parametrize("change", [as_printed, with_pybind11, with_nanobind, with_setuptools])
def test_it_is_built_and_runs_with_and_without_rocm(
    sdk: SampleSdk, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    change(project)
    wheel = build(project, sdk)

    python = empty_environment(tmp_path / "venv")
    (loader,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    install = [*installer_command("pip", python, "install"), "--quiet", "--no-index", str(loader), str(wheel)]
    assert completed(install, cwd="/").stderr == ""
    (extension,) = (tmp_path / "venv").glob("lib/python*/site-packages/hip_example/_hip.*.so")
    dynamic = subprocess.check_output(["readelf", "--dynamic", extension], text=True)
    assert "Shared library: [libamdhip64.so.7]" in dynamic
    assert str(sdk.path) not in dynamic  # an interpreter of one's own may put its directory there

    def use(**variables: str) -> tuple[str, str]:
        done = completed([python, "-W", "error", "-c", USE], cwd=project, env=clean_environment() | variables)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(maxsplit=1)[0], done.stdout

    assert use(ROCM_SDK_ROOT=str(sdk.path)) == ("2", "2 None\n")
    count, without = use()
    assert (count, "E-PKG-001" in without, "  fix: " in without) == ("0", True, True)
    assert "libamdhip64.so.7" in without
    system = str(sdk.path / "_rocm_sdk_core/lib")
    assert use(LD_LIBRARY_PATH=system) == ("2", "2 None\n")


@pytest.mark.parametrize("fault", ["another number", "no file", "damaged file"])
def test_an_sdk_that_does_not_fit_is_not_taken_for_none(sdk: SampleSdk, tmp_path: Path, fault: str) -> None:
    """The page says that the example does not catch this."""
    project, site = tmp_path / "project", tmp_path / "site"
    shutil.copytree(PROJECT, project)
    with ZipFile(build(project, sdk)) as wheel:
        wheel.extractall(site)
    other = write_sample_sdk(tmp_path / "other", "6.4" if fault == "another number" else "10.1")
    if fault == "no file":
        other.library("amdhip64").unlink()
    elif fault == "damaged file":
        os.truncate(other.library("amdhip64"), 100)
    said = {
        "another number": "for ROCm 6.4",
        "no file": "ImportError: libamdhip64.so.7: cannot open shared object file",
        "damaged file": "[E-LIB-006]",
    }
    done = other.run(USE, PYTHONPATH=str(site))
    assert (done.returncode, said[fault] in done.stderr) == (1, True), done.stderr
