"""The fixtures of the corpus: broken installations are built for real, and ordinary calls must name the fault.

Each failure that users met has a test, in a file of its kind.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from other_user import OtherUser
from sample_machine import Machine
from sample_report import install
from sample_site import LIBRARIES, Site, run_python
from waiting_programs import waiting_programs

_TRY = """
import json, warnings
import rocm_sdk
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        {statement}
    except rocm_sdk.RocmSdkError as error:
        print(json.dumps([type(error).__name__, error.code, error.message, error.fix or ""]))
    else:
        print(json.dumps(["", "", "; ".join(str(each.message) for each in caught), ""]))
"""


class Outcome(NamedTuple):
    """The outcome of a call of the API."""

    error: str  # its class; "" if the call went well
    code: str
    message: str  # of the error; else of the warnings
    fix: str


@pytest.fixture
def attempt() -> Callable[..., Outcome]:
    """Return a function that calls a function of `rocm_sdk` in a fresh process.

    The call is a text, as "initialize_process(preload_shortnames=['amdhip64'])"; keywords are environment variables.
    """

    def run(site: Site, call: str, **environment: str) -> Outcome:
        variables = {"PYTHONPATH": str(site.path)} | environment
        result = run_python(_TRY.format(statement=f"rocm_sdk.{call}"), **variables)
        return Outcome(*json.loads(result.stdout.splitlines()[-1]))

    return run


@pytest.fixture
def linked_site(tmp_path: Path) -> Site:
    """Return a site-packages directory whose libraries find each other by RPATH, as AMD's do."""
    return Site(tmp_path / "site-packages", rpath="rpath")


@pytest.fixture
def hsa(linked_site: Site) -> Path:
    """Return libhsa-runtime64 of an installed SDK: HIP needs it, rocSPARSE needs HIP, and hipSPARSE needs rocSPARSE."""
    path = linked_site.library("libhsa-runtime64.so.1")
    hip = linked_site.library("libamdhip64.so.7", needed=(path,))
    sparse = linked_site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    linked_site.library("libhipsparse.so.1", needed=(sparse,), package=LIBRARIES)
    install(linked_site)
    return path


@pytest.fixture(scope="session")
def c_program() -> Path:
    """Return tests/embed/preload_from_c.c as a compiled program, which knows nothing of Python."""
    root = Path(__file__).resolve().parents[2]
    subprocess.run(
        ["make", "-C", str(root), "VARIANT=gcc", "build/c/gcc/tests/embed/preload_from_c"],
        check=True,
        capture_output=True,
    )
    return root / "build/c/gcc/tests/embed/preload_from_c"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with no GPU yet: pass its root as ROCM_SDK_ROOTFS."""
    return Machine(tmp_path / "machine")


@pytest.fixture
def report_of_other_user(other_user: OtherUser) -> Callable[..., str]:
    """Return a function whose result is the output of `rocm-sdk test WORDS` as another user."""

    def run(site: Site, *words: str, **environment: str) -> str:
        result = other_user.run("-m", "rocm_sdk", "test", *words, PYTHONPATH=str(site.path), **environment)
        assert "Traceback" not in result.stderr, result.stderr
        return result.stdout

    return run


@pytest.fixture
def program() -> Iterator[Callable[..., int]]:
    """Yield a function that starts Python code, which goes on until the end of the test.

    The function returns the process, once the code has said that it is ready.
    """
    with waiting_programs() as start:
        yield start
