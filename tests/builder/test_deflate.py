"""Compressed blocks that become one stream, and archives of them: what other programs make of them."""

import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_sdk.installed.record import digest_text
from rocm_sdk_build.base.deflate import BLOCK, compress_block
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.wheels import Member, writing
from rocm_sdk_build.base.zip_writer import ZipWriter


def stream(data: bytes, block: int) -> bytes:
    pieces = [data[at : at + block] for at in range(0, len(data), block)] or [b""]
    return b"".join(compress_block(piece, at == len(pieces) - 1) for at, piece in enumerate(pieces))


def inflated(packed: bytes) -> bytes:
    reader = zlib.decompressobj(-15)
    data = reader.decompress(packed) + reader.flush()
    assert reader.eof
    assert reader.unused_data == b""
    return data


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=4000), st.integers(1, 1000), st.integers(0, 3))
def test_blocks_are_one_stream(data: bytes, block: int, repeats: int) -> None:
    """All lengths of the last byte's unused bits, stored, fixed and dynamic parts."""
    text = data * (1 + 10 * repeats)
    assert inflated(stream(text, block * (1 + 10 * repeats))) == text


@pytest.mark.parametrize("name", ["program", "random", "zeros"])
def test_large_blocks(name: str) -> None:
    """Blocks of several parts; not larger than zlib makes them."""
    contents = {
        "program": Path(sys.executable).resolve().read_bytes()[: 3 * BLOCK + 17],
        "random": random.Random(1).randbytes(2 * BLOCK),
        "zeros": bytes(3 * BLOCK),
    }
    data = contents[name]
    packed = stream(data, BLOCK)
    assert inflated(packed) == data
    writer = zlib.compressobj(6, zlib.DEFLATED, -15)
    assert len(packed) <= (len(writer.compress(data)) + len(writer.flush())) * 1.001 + 64 * (len(data) // BLOCK)


@given(st.lists(st.one_of(st.integers(0, 3 * BLOCK), st.sampled_from([0, 1, BLOCK - 1, BLOCK, 2 * BLOCK]))))
@settings(max_examples=50, deadline=None)
def test_pieces_of_any_size_become_blocks(sizes: list[int]) -> None:
    """All but the last are full, and the last is told to be it, also where the data ends with a full one."""
    blocks: list[tuple[int, bool]] = []
    member = Member(lambda data, is_last: blocks.append((len(data), is_last)))
    for size in sizes:
        assert member.write(bytes(size)) == size
    digest, size_text = member.finish()
    total = sum(sizes)
    count = max(1, -(-total // BLOCK))
    assert blocks == [(BLOCK, False)] * (count - 1) + [(total - (count - 1) * BLOCK, True)]
    assert (size_text, member.crc) == (str(total), zlib.crc32(bytes(total)))
    assert digest == digest_text(hashlib.sha256(bytes(total)))


def make(path: Path, members: dict[str, Path], jobs: int = 2, deflate: bool = True) -> Path:
    with writing(path, "a-1.dist-info", deflate=deflate, jobs=jobs) as wheel:
        for name, file in members.items():
            wheel.add_file(name, file)
    return path


@pytest.fixture
def members(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "a/empty": b"",
        "a/one block": os.urandom(BLOCK // 2) * 2,
        "a/blocks": b"blocks" * BLOCK,
        "a/ümlaut": b"text",
        "a/program": b"#!/bin/sh\n",
    }
    found = {}
    for number, (name, data) in enumerate(contents.items()):
        found[name] = tmp_path / str(number)
        found[name].write_bytes(data)
    found["a/program"].chmod(0o755)
    return found


@pytest.mark.parametrize("deflate", [True, False])
def test_what_readers_find(members: dict[str, Path], tmp_path: Path, deflate: bool) -> None:
    path = make(tmp_path / "a-1-py3-none-any.whl", members, deflate=deflate)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [*members, "a-1.dist-info/RECORD"]
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        for name, file in members.items():
            assert archive.read(name) == file.read_bytes()
        modes = {each.filename: each.external_attr >> 16 for each in archive.infolist()}
        assert (modes["a/program"], modes["a/empty"]) == (0o100755, 0o100644)
    if shutil.which("unzip"):
        assert "No errors detected" in subprocess.check_output(["unzip", "-t", path], text=True)


def test_threads_change_no_byte(members: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make(tmp_path / "one.whl", members, jobs=1).read_bytes()
    assert make(tmp_path / "many.whl", members, jobs=7).read_bytes() == one
    assert make(tmp_path / "all.whl", members, jobs=0).read_bytes() == one
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with zipfile.ZipFile(make(tmp_path / "dated.whl", members)) as archive:
        assert {each.date_time for each in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
    for text in ("yesterday", "-1", "4354819199", "9" * 5000, "\u0663", "1 "):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
        with pytest.raises(PackagingError, match=f"SOURCE_DATE_EPOCH='{text}'"):
            make(tmp_path / "none.whl", members)
    assert sorted(path.name for path in tmp_path.glob("*.whl*")) == ["all.whl", "dated.whl", "many.whl", "one.whl"]


def test_a_file_twice(members: dict[str, Path], tmp_path: Path) -> None:
    with (
        pytest.raises(PackagingError, match="the wheel would have a/empty twice"),
        writing(tmp_path / "x.whl", "a-1.dist-info") as wheel,
    ):
        wheel.add_file("a/empty", members["a/empty"])
        wheel.add_file("a/empty", members["a/empty"])
    assert not list(tmp_path.glob("*x.whl*"))


WRITE_LARGE = """
import sys
from pathlib import Path
from rocm_sdk_build.base.wheels import Member, writing
with writing(Path(sys.argv[1]), "a-1.dist-info", deflate=True) as wheel:
    wheel.add_file("large", Path(sys.argv[2]))
print(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
def test_memory_is_little(tmp_path: Path) -> None:
    """Of the process as it is: getrusage(2) would count what its parent had before exec."""
    large, script, path = tmp_path / "large", tmp_path / "write.py", tmp_path / "x.whl"
    script.write_text(WRITE_LARGE)
    with large.open("wb") as file:
        file.truncate(1 << 29)
    told = subprocess.check_output([sys.executable, script, path, large], text=True)
    assert int(told) < 150_000  # kB


ZEROS = bytes(1 << 26)


class Sparse(io.FileIO):
    """A file in which zeros take no room."""

    def write(self, data: Any, /) -> int:
        return self.seek(len(data), os.SEEK_CUR) and len(data) if data is ZEROS else super().write(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_and_places_that_take_more_than_32_bits(tmp_path: Path, method: int) -> None:
    size = 6 << 30
    with Sparse(tmp_path / "x.zip", "w") as file:
        archive = ZipWriter(file, (1980, 1, 1, 0, 0, 0))  # type: ignore[arg-type]
        archive.begin("large", size, False, method)
        piece = ZEROS if method == zipfile.ZIP_STORED else compress_block(bytes(BLOCK), False)
        for _ in range(size // (len(ZEROS) if method == zipfile.ZIP_STORED else BLOCK)):
            archive.write(piece)
        archive.end(size, 0)
        archive.begin("after", 5, True, method)
        archive.write(b"after" if method == zipfile.ZIP_STORED else compress_block(b"after", True))
        archive.end(5, zlib.crc32(b"after"))
        archive.finish()
    with zipfile.ZipFile(tmp_path / "x.zip") as found:
        assert [each.file_size for each in found.infolist()] == [size, 5]
        assert found.read("after") == b"after"
        with found.open("large") as member:
            assert member.read(1 << 22) == bytes(1 << 22)
    if shutil.which("unzip"):
        listed = subprocess.run(["unzip", "-p", tmp_path / "x.zip", "after"], capture_output=True, check=False)
        assert listed.stdout == b"after"


@pytest.mark.slow
def test_more_files_than_16_bits_can_count(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        archive = ZipWriter(file, (1980, 1, 1, 0, 0, 0))
        for number in range(66_000):
            archive.begin(str(number), 0, False, zipfile.ZIP_STORED)
            archive.end(0, 0)
        archive.finish()
    with zipfile.ZipFile(tmp_path / "x.zip") as found:
        assert len(found.infolist()) == 66_000
