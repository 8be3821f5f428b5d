"""The command `rocm-sdk` on an SDK of tiny libraries: fixtures for the conftest.py of a directory."""

import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


@pytest.fixture
def script() -> Path:
    """Return the command, as installed."""
    return SCRIPT


@pytest.fixture
def sdk(site: Site) -> Site:
    """Return an SDK with amdhip64 and hipsparse, which needs rocsparse, which needs amdhip64; no RPATHs."""
    hip = site.library("libamdhip64.so.7", "int hip_answer(void) { return 42; }")
    rocsparse = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library("libhipsparse.so.1", needed=(rocsparse,), package=LIBRARIES)
    site.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx942;gfx1100"}')
    return site


@pytest.fixture
def call(sdk: Site) -> Call:
    """Return a function that runs `BEFORE rocm-sdk` with the words; keywords are environment variables."""

    def run(*words: str, before: Sequence[str] = (), **environment: str) -> Result:
        variables = clean_environment() | {"PYTHONPATH": str(sdk.path)} | environment
        return completed([*before, str(SCRIPT), *words], env=variables)

    return run
