"""The sample SDK of the tests of closures, made once and never changed; an environment with it, made once."""

import sys
from pathlib import Path

import pytest
from sample_closure import write_sdk

# Modules beside this file are imported by name.
sys.path.append(str(Path(__file__).parent))

from environment import Environment, Snapshot, write_wheels


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sdk(tmp_path_factory.mktemp("closure") / "site")


@pytest.fixture(scope="session")
def wheels(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheels of the environment's packages."""
    return write_wheels(sdk, tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def _installed(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    directory = tmp_path_factory.mktemp("environment")
    made = Environment(directory / "venv")
    made.make()
    made.install(wheels, "rocm[libraries]", "framework")
    return Snapshot(made, directory / "snapshot")


@pytest.fixture
def environment(_installed: Snapshot) -> Environment:
    """Return the environment as pip has made it."""
    return _installed.restore()
