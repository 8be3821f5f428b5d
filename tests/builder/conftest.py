"""Fixtures with a small Debian of our own, and the command run on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from build_command import build_command

from rocm_sdk_build.inputs.debian_packages import choose, release_of

# Modules beside this file are imported by name.
sys.path.append(str(Path(__file__).parent))

from artifact_packages import build as build_artifacts
from artifact_tree import usual_tree
from checked_packages import make_whole
from installed_rocm import Prefix, usual_rocm
from small_debian import DEVELOPMENT, LIBRARIES, Archive, add_development_package, add_rocm_library, install
from stored_builds import stored

Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module", autouse=True)
def _stored_compiler() -> Iterator[None]:
    """Compile the small programs of packages once for all builds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", str(Path(__file__).parents[1] / "stored_compiler"))
        yield


@pytest.fixture(scope="session")
def _packages(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return a small Debian with all of LIBRARIES and DEVELOPMENT, made once; tests take a copy."""
    archive = Archive(tmp_path_factory.mktemp("debian"))
    for package in ("libc6", "libstdc++6", "python3"):
        archive.add(package, (), {})
    pending = dict(LIBRARIES)
    while pending:
        ready = [name for name, row in pending.items() if all((archive.libraries / need).exists() for need in row[1])]
        for package in ready:
            add_rocm_library(archive, package)
            del pending[package]
    for package in DEVELOPMENT:
        add_development_package(archive, package)
    choice = choose(release_of("bookworm"), (), {*LIBRARIES, *DEVELOPMENT})
    assert {*choice.tools, *choice.development} == DEVELOPMENT.keys()
    return archive


@pytest.fixture
def archive(_packages: Archive, tmp_path: Path) -> Archive:
    """Return the small Debian, published, for one test to change."""
    return copied(_packages, tmp_path)


@pytest.fixture(scope="module")
def shared_archive(_packages: Archive, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return the small Debian, published, for the tests of a module; not to be changed."""
    return copied(_packages, tmp_path_factory.mktemp("shared"))


def copied(packages: Archive, place: Path) -> Archive:
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system")
    own = Archive(place / "archive")
    shutil.copytree(packages.libraries, own.libraries, symlinks=True)
    shutil.copytree(packages.pool, own.pool, dirs_exist_ok=True)
    shutil.copytree(packages.controls, own.controls, dirs_exist_ok=True)
    own.publish()
    return own


@pytest.fixture
def make_wheels(archive: Archive, tmp_path: Path) -> Callable[..., Result]:
    """Return a function that runs `rocm-sdk-build debian` on the small Debian.

    Wheels go to `wheels`, and its cache is `cache`.
    """

    def run(shape: str, *options: str, **environment: str) -> Result:
        return wheels_in(tmp_path, archive, "--shape", shape, *options, **environment)

    return run


def wheels_in(place: Path, archive: Archive, *options: str, **environment: str) -> Result:
    words = ["--output", place / "wheels", "--cache", place / "cache", "--no-loader", *options]
    return build_command("debian", *words, env={**os.environ, **archive.variables, **environment})


@pytest.fixture(scope="module")
def debian_site(shared_archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory with the installed wheels of the small Debian; not to be changed."""
    place = tmp_path_factory.mktemp("debian-site")
    done = wheels_in(place, shared_archive, "--shape", "none")
    assert done.returncode == 0, done.stderr
    return install(map(Path, done.stdout.splitlines()), place / "site")


@pytest.fixture(scope="session")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Prefix:
    """Return a ROCm with further links; not to be changed."""
    prefix = usual_rocm(tmp_path_factory.mktemp("prefix") / "rocm")
    prefix.link("lib64", "lib")
    prefix.link("lib/libgone.so", "libgone.so.3")
    prefix.link("lib/loop", "loop")
    prefix.link("bin/shell", "/bin/sh")
    return prefix


@pytest.fixture(scope="session")
def kpack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return `dist` of a kpack-split build."""
    return stored(tmp_path_factory.mktemp("kpack") / "sdk", "a kpack-split build", make_kpack) / "dist"


def make_kpack(directory: Path) -> None:
    directory.mkdir()
    done = build_artifacts(usual_tree(directory / "artifacts"), directory)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the packages that all machines have made, for questions to `check`; not to be changed."""
    return stored(tmp_path_factory.mktemp("whole") / "sdk", "all packages", make_whole) / "dist"


@pytest.fixture
def dist(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the packages of all machines that a test may change."""
    return Path(shutil.copytree(whole, tmp_path / "dist"))
