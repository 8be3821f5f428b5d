"""Fixtures that the whole suite shares."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_site import Site


@pytest.fixture(scope="session", autouse=True)
def _away_from_the_sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs started with `-c` or `-m` look into the current directory first: the sources have no extension."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield
    os.chdir(before)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site-packages directory with an SDK that has no libraries yet, and whose libraries get no RPATH."""
    return Site(tmp_path / "site-packages")
