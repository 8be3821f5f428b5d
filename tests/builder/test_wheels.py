"""Writing a wheel: what a run leaves that ends in the middle of it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from own_mounts import need_mounts
from programs import completed

from rocm_sdk_build.base.input_file import ChangedInputError
from rocm_sdk_build.base.wheels import wheel_key, writing

FILES = ("a.so", "b.so", "comma,name.so")
WRITE = f"""
import sys
from pathlib import Path
from rocm_sdk_build.base.wheels import writing
with writing(Path(sys.argv[2]), "a-1.dist-info", "the key") as wheel:
    for name in {FILES}:
        wheel.add_file(name, Path(sys.argv[1], name))
"""


def write(wheel: Path, site: Path) -> None:
    with writing(wheel, "a-1.dist-info", "the key") as unfinished:
        for name in FILES:
            unfinished.add_file(name, site / name)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a tree whose second file is `b.so`, for the test to make."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "a.so").write_bytes(b"a" * 100_000)
    (site / "comma,name.so").write_bytes(b"c")
    return site


def is_writing(process: int, directory: Path) -> bool:
    """Return whether a process has a file without a name open in a directory."""
    for path in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(OSError):  # it was closed meanwhile
            if str(path.readlink()).startswith(f"{directory}/#"):
                return True
    return False


def test_a_run_killed_while_writing(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with (site / "b.so").open("wb") as large:  # takes so long that the run is killed before its end
        large.truncate(1 << 36)
    with subprocess.Popen([sys.executable, "-c", WRITE, str(site), str(wheel)]) as run:
        deadline = time.monotonic() + 30
        while not is_writing(run.pid, tmp_path) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert is_writing(run.pid, tmp_path)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["site"], "nothing half-written stays"
    assert wheel_key(wheel) == ""

    (site / "b.so").unlink()
    (site / "b.so").write_bytes(b"b")
    write(wheel, site)
    assert wheel_key(wheel) == "the key"
    assert sorted(path.name for path in tmp_path.iterdir()) == [wheel.name, "site"]
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.so", "b.so", "comma,name.so", "a-1.dist-info/RECORD"]


def test_a_file_that_changes(site: Path, tmp_path: Path) -> None:
    """A file that changes would have a digest in RECORD that no state of it had."""
    path, wheel, is_done = site / "b.so", tmp_path / "a-1-py3-none-any.whl", threading.Event()
    path.write_bytes(bytes(50 << 20))
    wheel.write_bytes(b"an older wheel")

    def change() -> None:
        with path.open("r+b", buffering=0) as file:
            while not is_done.wait(0.001):
                os.pwrite(file.fileno(), b"\1", 40 << 20)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        with pytest.raises(ChangedInputError, match="it changed while it was read") as caught:
            write(wheel, site)
        assert caught.value.filename == str(path)
    finally:
        is_done.set()
        writer.join()
    assert wheel.read_bytes() == b"an older wheel"


def test_a_file_that_cannot_be_read(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    wheel.write_bytes(b"an older wheel")
    with pytest.raises(FileNotFoundError, match=r"b\.so"):
        write(wheel, site)
    assert wheel.read_bytes() == b"an older wheel"
    assert wheel_key(wheel) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [wheel.name, "site"]


def test_without_proc(site: Path, tmp_path: Path) -> None:
    """As in a chroot: the file has a name from the start, which goes with a run that fails."""
    need_mounts()
    (site / "b.so").write_bytes(b"b")
    wheel, missing = tmp_path / "a-1-py3-none-any.whl", tmp_path / "b-1-py3-none-any.whl"
    for place, source in ((wheel, site), (missing, tmp_path)):
        command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        command += [sys.executable, "-c", WRITE, str(source), str(place)]
        done = completed(command)
        assert (done.returncode == 0) == (place == wheel), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [wheel.name, "site"]
    assert wheel.stat().st_mode & 0o777 == 0o644
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
