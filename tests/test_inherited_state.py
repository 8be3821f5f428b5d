"""The suite does not depend on what its process inherits: the conftest gives it signals, limits and variables."""

import os
import resource
import signal
import sys
from pathlib import Path

import pytest
from programs import completed

TESTS = Path(__file__).resolve().parent

# Tests that failed, and left children behind, where the caller ignores SIGINT (nohup, a shell's background job).
SENSITIVE = (
    "devel/test_extraction.py::test_interrupted_by_the_user",
    "devel/test_extraction.py::test_modes_follow_the_umask",
    "situations/test_command.py::test_ctrl_c",
    "situations/test_command.py::test_ctrl_c_ends_programs_too",
)


def _be_inherited() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    os.umask(0o077)


def test_a_hostile_caller(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--rootdir={TESTS.parent}"]
    environment = {name: value for name, value in os.environ.items() if name not in {"HOME", "LC_ALL"}} | {
        "LANG": "tr_TR.UTF-8",
        "HOME": "/nonexistent",
        "FORCE_COLOR": "3",
        "ROCM_SDK_TARGET_FAMILY": "gfx0",
    }
    result = completed(
        [*command, "-o", f"cache_dir={tmp_path}", *(str(TESTS / name) for name in SENSITIVE)],
        cwd=TESTS.parent / "build",
        env=environment,
        preexec_fn=_be_inherited,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(SENSITIVE)} passed" in result.stdout


def test_the_state_of_this_process() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert os.environ["HOME"].endswith("build/test-home")
    assert not [name for name in os.environ if name.startswith(("ROCM_", "HSA_", "LD_"))]


@pytest.mark.installed_wheel
def test_the_wheel_is_what_is_tested() -> None:
    import rocm_sdk

    assert not Path(rocm_sdk.__file__).resolve().is_relative_to(TESTS.parent / "rocm_sdk")
