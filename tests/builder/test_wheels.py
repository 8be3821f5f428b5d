"""Writing a wheel: what a run leaves that ends in the middle of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from rocm_sdk_build.wheels import recorded_members, wheel_key, write_wheel

WRITE = """
import sys
from pathlib import Path
from rocm_sdk_build.wheels import recorded_members, write_wheel
write_wheel(Path(sys.argv[2]), recorded_members(Path(sys.argv[1]), "a-1.dist-info"), "a-1.dist-info", "the key")
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A tree whose second file is `b.so`, for the test to make."""
    site = tmp_path / "site"
    (site / "a-1.dist-info").mkdir(parents=True)
    (site / "a-1.dist-info/RECORD").write_text('a.so,,\nb.so,,\n"comma,name.so",,\na-1.dist-info/RECORD,,\n')
    (site / "a.so").write_bytes(b"a" * 100_000)
    (site / "comma,name.so").write_bytes(b"c")
    return site


def test_a_run_killed_while_writing(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    os.mkfifo(site / "b.so")  # nobody writes into it: the run stops there until it is killed
    with subprocess.Popen([sys.executable, "-c", WRITE, str(site), str(wheel)]) as run:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".*.partial")) and time.monotonic() < deadline:
            time.sleep(0.01)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    assert list(tmp_path.glob(".*.partial"))
    assert not wheel.exists()
    assert wheel_key(wheel) == ""

    (site / "b.so").unlink()
    (site / "b.so").write_bytes(b"b")
    write_wheel(wheel, recorded_members(site, "a-1.dist-info"), "a-1.dist-info", "the key")
    assert wheel_key(wheel) == "the key"
    assert not list(tmp_path.glob(".*.partial"))
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.so", "b.so", "comma,name.so", "a-1.dist-info/RECORD"]


def test_a_file_that_cannot_be_read(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    wheel.write_bytes(b"an older wheel")
    with pytest.raises(FileNotFoundError, match=r"b\.so"):
        write_wheel(wheel, recorded_members(site, "a-1.dist-info"), "a-1.dist-info", "the key")
    assert wheel.read_bytes() == b"an older wheel"
    assert wheel_key(wheel) == ""
    assert not list(tmp_path.glob(".*.partial"))
