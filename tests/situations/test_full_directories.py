"""A temporary directory without room, for what `check` and `code` unpack: the archive itself is sound."""

import bz2
import errno
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from command_fixtures import Call
from own_mounts import need_mounts
from sample_device_code import bundle, library, objects
from sample_site import clean_environment

from rocm_sdk.errors import BadArchiveError, LibraryAccessError
from rocm_sdk.fit.code.archive_errors import of_reading

SIZE = 1 << 20


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    data = library(tmp_path / "libk.so", [bundle(objects("gfx942"))]).read_bytes()
    path = tmp_path / "big-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big/libk.so", data + os.urandom(SIZE))
        archive.writestr("big-1.dist-info/METADATA", "Name: big\nVersion: 1\n")
    return path


@pytest.mark.parametrize("room", ["100k", "40k"])  # the second is too small for a directory with a file
def test_a_wheel_that_does_not_fit(wheel: Path, tmp_path: Path, room: str) -> None:
    need_mounts()
    small = tmp_path / "small"
    small.mkdir()
    script = f'mount -t tmpfs -o size={room} none "$0" && exec "$@"'
    for words in (("check", wheel, "--gpu", "gfx942"), ("code", wheel)):
        command = ["unshare", "--mount", "sh", "-c", script, small, sys.executable, "-m", "rocm_sdk", *words]
        said = subprocess.run(
            command, env=clean_environment() | {"TMPDIR": str(small)}, capture_output=True, text=True, check=False
        )
        text = said.stdout + said.stderr
        assert said.returncode == 1, text
        assert "[E-FILE-007]" in text
        assert str(small) in text, text
        assert "E-CODE-004" not in text and "get the archive again" not in text, text


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EACCES, errno.EIO, errno.EROFS])
def test_what_the_surroundings_lack(number: int) -> None:
    found = of_reading("a.whl/b.so", OSError(number, os.strerror(number)), "it cannot be read", "/tmp")
    assert type(found) is LibraryAccessError
    assert found.code == "E-FILE-007"
    assert os.strerror(number) in str(found)
    again = of_reading("a.whl", found, "it cannot be read from the archive")  # below another reader
    assert again is found


@pytest.mark.parametrize(
    "error", [OSError("Invalid data stream"), zipfile.BadZipFile("x"), OSError(errno.EINVAL, "Invalid argument")]
)
def test_what_the_archive_lacks(error: Exception) -> None:
    assert type(of_reading("a.whl", error, "it cannot be read")) is BadArchiveError


def test_a_damaged_stream_is_the_archives(call: Call, tmp_path: Path) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    data = bytearray(bz2.compress(plain.getvalue()))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "a.tar.bz2").write_bytes(data)
    said = call("code", str(tmp_path / "a.tar.bz2"))
    assert "E-CODE-004" in said.stdout + said.stderr
