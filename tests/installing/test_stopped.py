"""What a killed installer leaves: packages without some of their files, and files in TMPDIR."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # modules beside this file are imported by name

from asked_server import served, write_pages, write_sdk
from sample_machine import machine_of

Run = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("installer", ["pip", "uv"])


@both
@pytest.mark.parametrize("lost", ["rocm_sdk_core_files/__init__.py", "METADATA", "RECORD"])
def test_half_a_package_is_named_with_a_fix(install: Run, python: Path, installer: str, lost: str) -> None:
    """The fix, and the same command again, make it whole; --print says it too."""
    words = ("sdk", "--installer", installer)
    install(*words, "--yes", python=python, status=None)
    assert "already has all of it" in install(*words, python=python).stdout
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (dist_info,) = site.glob("rocm_sdk_core-*.dist-info")
    path = site / lost if "/" in lost else dist_info / lost
    path.unlink()
    said = install(*words, "--yes", python=python, status=1)
    assert f"rocm-sdk-core 10.0.1 lacks 1 of its files, as {path}" in said.stderr
    assert "nothing is changed" not in said.stdout
    assert f"lacks 1 of its files, as {path}" in install(*words, "--print", python=python).stderr
    fix, _, _ = said.stderr.splitlines()[-1].removeprefix("  fix: ").partition(", and run the command again")
    subprocess.run(["sh", "-c", fix], check=True, capture_output=True)
    assert not dist_info.exists()
    assert "lacks" not in install(*words, "--yes", python=python, status=None).stderr
    assert path.exists()
    assert "already has all of it" in install(*words, python=python).stdout


def test_what_is_written_and_removed_again_is_no_lack(install: Run, python: Path) -> None:
    """Caches of Python, rows without a digest, and packages of others."""
    install("sdk", "--yes", python=python, status=None)
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (dist_info,) = site.glob("rocm_sdk_core-*.dist-info")
    rows = "rocm_sdk_core_files/__pycache__/x.pyc,,\nrocm_sdk_devel/_devel.tar.xz,sha256=x,1\n"
    with (dist_info / "RECORD").open("a") as record:
        record.write(rows)
    for name in ("other-1", "rocm_sdk_build-1"):  # a development tree of our own has no RECORD
        (site / f"{name}.dist-info").mkdir()
    assert "already has all of it" in install("sdk", python=python).stdout


@both
def test_the_next_one_removes_what_a_kill_left(
    install: Run, tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    """The directory of a running one, and those of others, stay."""
    packages, temporary = tmp_path / "packages", tmp_path / "temporary"
    packages.mkdir()
    (temporary / "rocm-sdk-install-other/file").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    write_sdk(packages)
    write_pages(packages)
    machine = machine_of(tmp_path / "other machine", "gfx1100")
    with served(packages) as server:
        words, variables = ("sdk", "--print", "--installer", installer), {"ROCM_SDK_INDEX": f"{server.root}/simple/"}
        environment = os.environ | variables | {"ROCM_SDK_ROOTFS": str(machine.root)}
        command = [sys.executable, "-m", "rocm_sdk", "install", *words, "--python", str(python)]
        server.open.clear()
        started = subprocess.Popen(command, env=environment, start_new_session=True)
        _wait(lambda: bool(server.asked))
        (left,) = {*temporary.iterdir()} - {temporary / "rocm-sdk-install-other"}
        assert left.name.startswith("rocm-sdk-install-"), "all that the installer writes is below it"
        (left / "pip-unpack-x").mkdir()
        os.killpg(started.pid, signal.SIGSTOP)
        server.open.set()
        install(*words, python=python, **variables)
        assert left.exists(), "its process still runs"
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        install(*words, python=python, **variables)
    assert [path.name for path in temporary.iterdir()] == ["rocm-sdk-install-other"]


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
