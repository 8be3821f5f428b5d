"""Site-packages directories with development packages, for all tests of the development tree."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_devel import DevelSite, sample_members


@pytest.fixture
def make_site(tmp_path: Path) -> Callable[..., DevelSite]:
    """Return a function that makes an empty site-packages directory."""

    def make(nonce: str = "", name: str = "site-packages") -> DevelSite:
        return DevelSite(tmp_path / name, nonce)

    return make


@pytest.fixture
def devel_site(make_site: Callable[..., DevelSite]) -> DevelSite:
    """Return a site-packages directory with an SDK whose development tree is not extracted yet."""
    site = make_site()
    site.install_sdk()
    return site


@pytest.fixture
def open_site(open_directory: Path) -> DevelSite:
    """Return a site-packages directory that other users can reach, unlike pytest's own directories."""
    return DevelSite(open_directory / "site-packages")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the path at which the tests of stores make a store."""
    return tmp_path / "store"


@pytest.fixture
def two_sites(make_site: Callable[..., DevelSite]) -> list[DevelSite]:
    """Return two environments with the same archive."""
    members = sample_members()
    sites = [make_site(name=f"env{i}/site-packages") for i in range(2)]
    for site in sites:
        site.install_sdk("_devel.tar.xz", members=members)
    return sites
