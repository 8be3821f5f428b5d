"""Virtual environments in which `rocm` and ours are installed, upgraded and uninstalled by pip and by uv."""

import importlib.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from environments import empty_environment, installer_command
from programs import completed

Result = subprocess.CompletedProcess[str]

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {"PIP_ROOT_USER_ACTION": "ignore", "UV_OFFLINE": "1", "UV_NO_CONFIG": "1"}


def _beside(name: str) -> ModuleType:
    """Return a module of this directory.

    pytest's importlib mode keeps the directory off sys.path.
    """
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Environment:
    """A virtual environment and the installer that works in it."""

    def __init__(self, directory: Path, wheels: Path, installer: str) -> None:
        self.python = empty_environment(directory)
        self.directory = directory
        self.wheels = wheels
        self.installer = installer
        (self.site,) = directory.glob("lib/python*/site-packages")

    def install(self, *requirements: str) -> None:
        source = ["--no-index", "--find-links", str(self.wheels), *requirements]
        run([*installer_command(self.installer, self.python, "install"), "--quiet", *source])

    def uninstall(self, name: str) -> None:
        assent = [] if self.installer == "uv" else ["--yes"]
        run([*installer_command(self.installer, self.python, "uninstall"), "--quiet", *assent, name])

    def pip_check(self) -> Result:
        """Return pip's opinion of the environment; uv's must agree."""
        pip, uv = (run(installer_command(each, self.python, "check"), check=False) for each in ("pip", "uv"))
        assert bool(pip.returncode) == bool(uv.returncode), pip.stdout + uv.stderr
        return pip

    def is_satisfied(self, requirement: str) -> bool:
        """Return whether pip and uv find the requirement installed: with no index they could get nothing."""
        words = ("--no-index", "--dry-run", requirement)
        pip, uv = (
            run([*installer_command(each, self.python, "install"), *words], check=False) for each in ("pip", "uv")
        )
        assert bool(pip.returncode) == bool(uv.returncode), pip.stderr + uv.stderr
        return pip.returncode == 0

    def command(self, *words: str) -> Result:
        return run([str(self.directory / "bin/rocm-sdk"), *words], check=False)

    def adopt(self, *words: str) -> Result:
        return run([str(self.python), "-m", "rocm_sdk.adoption", *words], check=False)

    def problem(self) -> str:
        """Return the problem that state() reports, "None" where all is well."""
        code = "from rocm_sdk.adoption import state; print(state().problem)"
        return run([str(self.python), "-c", code]).stdout.strip()

    def files(self) -> dict[str, bytes]:
        """Return all installed files by path, except the files that Python compiled."""
        found = [*self.site.rglob("*"), *(self.directory / "bin").glob("rocm*")]
        kept = [path for path in found if path.is_file() and path.suffix != ".pyc"]
        return {str(path.relative_to(self.directory)): path.read_bytes() for path in kept}


def run(command: list[str], *, check: bool = True) -> Result:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROCM_"))}
    result = completed(command, env=environment | SETTINGS)
    assert not check or result.returncode == 0, (command, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="session")
def established() -> ModuleType:
    """Return the module that makes AMD's distribution `rocm`."""
    return _beside("established_rocm")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory, established: ModuleType) -> Path:
    """Return a directory with our wheel, and with `rocm` and its SDK in two versions."""
    SETTINGS["UV_CACHE_DIR"] = str(tmp_path_factory.mktemp("uv-cache"))
    directory = tmp_path_factory.mktemp("wheels")
    (ours,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    (directory / ours.name).symlink_to(ours)
    for version in ("7.10.0", "7.11.0"):
        established.write_wheels(version, directory, tmp_path_factory.mktemp("sources"))
    return directory


@pytest.fixture
def make_environment(tmp_path: Path, wheels: Path) -> Callable[..., Environment]:
    """Return a function that makes an empty environment for an installer, "pip" or "uv".

    A second argument is the directory that the environment is made in.
    """
    return lambda installer, parent=tmp_path: Environment(parent / "venv", wheels, installer)


@pytest.fixture(params=["pip", "uv"])
def environment(request: pytest.FixtureRequest, make_environment: Callable[..., Environment]) -> Environment:
    """Return an empty environment for each installer."""
    return make_environment(request.param)
