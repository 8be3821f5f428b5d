"""Fixtures with a small Debian of our own, and the command run on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocm_sdk_build.inputs.debian_packages import choose, release_of

# Modules beside this file are imported by name.
sys.path.append(str(Path(__file__).parent))

from small_debian import DEVELOPMENT, LIBRARIES, Archive, add_development_package, add_rocm_library

Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module", autouse=True)
def _stored_compiler() -> Iterator[None]:
    """The small programs of packages are compiled once for all builds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", str(Path(__file__).parents[1] / "stored_compiler"))
        yield


@pytest.fixture(scope="session")
def _packages(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """All of LIBRARIES and DEVELOPMENT, made once; tests take a copy."""
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
    """The small Debian, published, for one test to change."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system")
    own = Archive(tmp_path / "archive")
    shutil.copytree(_packages.libraries, own.libraries, symlinks=True)
    shutil.copytree(_packages.pool, own.pool, dirs_exist_ok=True)
    shutil.copytree(_packages.controls, own.controls, dirs_exist_ok=True)
    own.publish()
    return own


@pytest.fixture
def make_wheels(archive: Archive, tmp_path: Path) -> Callable[..., Result]:
    """Runs `rocm-sdk-build debian` on the small Debian; wheels go to `wheels`, its cache is `cache`."""

    def run(shape: str, *options: str, **environment: str) -> Result:
        command = ["-m", "rocm_sdk_build", "debian", "--shape", shape]
        command += ["--output", str(tmp_path / "wheels"), "--cache", str(tmp_path / "cache"), *options]
        return subprocess.run(
            [sys.executable, *command],
            env={**os.environ, "APT_CONFIG": str(archive.apt_conf), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
