"""Installations for the tests of `rocm-sdk test`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample_prefix import Stage, sound_stage
from sample_report import install
from sample_site import LIBRARIES, Site
from stored_builds import stored

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_wheels


@pytest.fixture
def sdk(tmp_path: Path) -> Site:
    """Return an SDK of three libraries that find each other, with the metadata of their packages."""
    site = Site(tmp_path / "site-packages", rpath="rpath")
    hip = site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }")
    sparse = site.library("librocsparse.so.1", "int rocsparse_create_handle;", (hip,), LIBRARIES)
    site.library("libhipsparse.so.1", "int hipsparseCreate;", (sparse,), LIBRARIES)
    install(site)
    return site


@pytest.fixture(scope="session")
def pristine_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample SDK as pip installs it; not to be changed."""
    return stored(tmp_path_factory.mktemp("sample") / "site-packages", "the sample SDK", install_sample)


def install_sample(target: Path) -> None:
    directory = target.parent
    wheels = [path for path in write_sample_wheels(Shape.RPATH, directory / "wheels") if path.suffix == ".whl"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), *map(str, wheels)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def sample(pristine_sample: Path, tmp_path: Path) -> Path:
    """Return a copy of the sample SDK."""
    return Path(shutil.copytree(pristine_sample, tmp_path / "site-packages", symlinks=True))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Return a sound ROCm below a staging directory."""
    return sound_stage(tmp_path / "stage")
