"""The indexes, and an environment to install into."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from environments import environment_with_pip
from own_mounts import mounted as mounting
from package_index import index_of
from programs import completed
from sample_machine import machine_of

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _programs_in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the installers of the tests' environment into PATH: nothing says that its programs are there."""
    monkeypatch.setenv("PATH", os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]))


@pytest.fixture(scope="session")
def whl_next(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of an index where the user chooses the packages for GPUs."""
    yield from index_of(tmp_path_factory.mktemp("whl-next"), split=True)


@pytest.fixture(scope="session")
def whl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of an index where the packages for all GPUs come along."""
    yield from index_of(tmp_path_factory.mktemp("whl"), split=False)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return the interpreter of an empty environment, with the pip that Python brings."""
    return environment_with_pip(tmp_path / "environment")


@pytest.fixture(scope="session")
def shared_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of such an environment for tests that only ask."""
    return environment_with_pip(tmp_path_factory.mktemp("shared") / "environment")


@pytest.fixture(autouse=True)
def _no_further_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the places of packages that the machine which runs the tests has."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "UV_INDEX", "UV_FIND_LINKS", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.delenv("UV_CONFIG_FILE", raising=False)


@pytest.fixture
def install(tmp_path: Path, shared_python: Path, whl_next: str) -> Run:
    """Return a function that runs `rocm-sdk install`; variables are keyword arguments.

    The machine has a gfx1100.
    """
    machine = machine_of(tmp_path / "machine", "gfx1100")

    def run(
        *arguments: str, status: int | None = 0, python: Path = shared_python, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"ROCM_SDK_ROOTFS": str(machine.root), "ROCM_SDK_INDEX": whl_next} | variables
        command = [sys.executable, "-m", "rocm_sdk", "install", *arguments, "--python", str(python)]
        result = completed(command, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL)
        assert status in (None, result.returncode), result.stdout + result.stderr
        return result

    return run


@pytest.fixture
def mounted() -> Iterator[Callable[[Path, str], None]]:
    """Yield a function that mounts a file system of memory with options."""
    with ExitStack() as block:

        def mount(place: Path, options: str) -> None:
            place.mkdir(parents=True, exist_ok=True)
            block.enter_context(mounting(place, "-t", "tmpfs", "-o", options, "none"))

        yield mount
