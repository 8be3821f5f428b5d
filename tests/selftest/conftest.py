"""Installations for the tests of `rocm-sdk test`."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_packages import Index, indexed
from indexed_packages import install as install_from
from sample_devel import core_files, libraries_files, make_wheel
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


@pytest.fixture(scope="session")
def offered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheels of an index, and a directory in which pip has installed them from there.

    Neither is to be changed.
    """
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed") / "site-packages"
    make_wheel(wheels, "rocm-sdk-core", core_files())
    make_wheel(wheels, "rocm-sdk-libraries", libraries_files())
    with indexed(wheels) as index:
        index.form = "html"
        install_from(target, "--index-url", index.address, "rocm-sdk-core==7.10.0", "rocm-sdk-libraries==7.10.0")
    return wheels, target


@pytest.fixture
def fetched(offered: tuple[Path, Path], tmp_path: Path) -> Path:
    """Return a copy of the packages that pip has installed from the index."""
    return Path(shutil.copytree(offered[1], tmp_path / "site-packages"))


@pytest.fixture
def index(offered: tuple[Path, Path], tmp_path: Path) -> Iterator[Index]:
    """Yield the index, with a copy of the wheels."""
    with indexed(Path(shutil.copytree(offered[0], tmp_path / "wheels"))) as found:
        yield found
