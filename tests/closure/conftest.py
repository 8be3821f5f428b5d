"""The sample SDK of the tests of closures, made once and never changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_closure import write_sdk


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sdk(tmp_path_factory.mktemp("closure") / "site")
