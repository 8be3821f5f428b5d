"""Fixtures that the whole suite shares."""

from pathlib import Path

import pytest
from sample_site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site-packages directory with an SDK that has no libraries yet, and whose libraries get no RPATH."""
    return Site(tmp_path / "site-packages")
