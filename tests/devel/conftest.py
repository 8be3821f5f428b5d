"""Site-packages directories with development packages, for all tests of the development tree."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sample_devel import DevelSite


@pytest.fixture
def make_site(tmp_path: Path) -> Callable[..., DevelSite]:
    """Makes an empty site-packages directory."""

    def make(nonce: str = "", name: str = "site-packages") -> DevelSite:
        return DevelSite(tmp_path / name, nonce)

    return make


@pytest.fixture
def devel_site(make_site: Callable[..., DevelSite]) -> DevelSite:
    """A site-packages directory with an SDK whose development tree is not extracted yet."""
    site = make_site()
    site.install_sdk()
    return site


@pytest.fixture
def open_site() -> Iterator[DevelSite]:
    """A site-packages directory that other users can reach, unlike pytest's own directories."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield DevelSite(Path(directory, "site-packages"))
