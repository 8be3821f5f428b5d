"""The indexes, and an environment to install into."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import environment_with_pip
from package_index import index_of


@pytest.fixture(autouse=True)
def _programs_in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installers of the environment that runs the tests: nothing says that its programs are in PATH."""
    monkeypatch.setenv("PATH", os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]))


@pytest.fixture(scope="session")
def whl_next(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index where the user chooses the packages for GPUs."""
    yield from index_of(tmp_path_factory.mktemp("whl-next"), split=True)


@pytest.fixture(scope="session")
def whl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index where those of all GPUs come along."""
    yield from index_of(tmp_path_factory.mktemp("whl"), split=False)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an empty environment, with the pip that Python brings."""
    return environment_with_pip(tmp_path / "environment")


@pytest.fixture(scope="session")
def shared_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for tests that only ask."""
    return environment_with_pip(tmp_path_factory.mktemp("shared") / "environment")


@pytest.fixture(autouse=True)
def _no_further_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the machine that runs the tests."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "UV_INDEX", "UV_FIND_LINKS", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.delenv("UV_CONFIG_FILE", raising=False)
