"""The cost of listing or unpacking a hostile tar archive: tarfile itself would read any amount into memory."""

import gzip
import io
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from artifact_tree import MANIFEST, STAGE

from rocm_sdk.errors import BadArchiveError
from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk.fit.code.tar_reader import END_LIMIT, HEADERS_LIMIT
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs import archives
from rocm_sdk_build.inputs.archives import DEPTH_LIMIT, unpack

_SECONDS, _BYTES = 5, 100 << 20
_MANY = 400 << 20  # bytes
_CHILD = """
import resource, sys
from pathlib import Path
from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk_build.inputs.archives import unpack
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) << 10
before, start, path = peak(), resource.getrusage(resource.RUSAGE_SELF).ru_utime, Path(sys.argv[1])
try:
    answer = unpack(path, path.parent / "cache") if path.name.endswith(".xz") else list(code_in(str(path)))
except Exception as error:
    answer = f"{type(error).__name__}: {error}"
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start, peak() - before, answer)
"""
Part = bytes | int  # int: so many zeros


def header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT)


def with_data(name: str, data: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(name, kind, len(data)) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


FIRST = with_data(MANIFEST, f"{STAGE}\n".encode())
FILE = with_data(f"{STAGE}/a", b"a")
END = bytes(2 * tarfile.BLOCKSIZE)
SPARSE = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n28 GNU.sparse.name=somename\n"


def a_long_name() -> Iterable[Part]:
    return header("x", tarfile.GNUTYPE_LONGNAME, _MANY), _MANY, FILE, END


def a_long_pax_header() -> Iterable[Part]:
    return header("x", tarfile.XHDTYPE, _MANY), b"%d path=" % _MANY, _MANY - 15, FILE, END


def many_long_names() -> Iterable[Part]:
    return *[header("x", tarfile.GNUTYPE_LONGNAME, 1 << 19) + bytes(1 << 19)] * 300, FILE, END


def a_map_of_holes() -> Iterable[Part]:
    count = 20 << 20
    rows = [b"0\n" * (1 << 20)] * (count >> 20)
    return with_data("x", SPARSE, tarfile.XHDTYPE), header("y", size=2 * count + 512), b"%d\n" % count, *rows


def zeros_behind_the_end() -> Iterable[Part]:
    return FILE, END, _MANY


def write(path: Path, *parts: Part) -> Path:
    chunk = bytes(1 << 20)
    with lzma.open(path, "wb", preset=0) if path.suffix == ".xz" else gzip.open(path, "wb", 1) as file:
        for part in parts:
            if isinstance(part, int):
                for at in range(0, part, len(chunk)):
                    file.write(chunk[: part - at])
            else:
                file.write(part)
    return path


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        *((parts, "x.tar.gz") for parts in (a_long_name, a_long_pax_header, many_long_names, a_map_of_holes)),
        (a_long_name, "blas_lib_generic.tar.xz"),
        (zeros_behind_the_end, "blas_lib_generic.tar.xz"),
    ],
)
def test_headers_are_refused_at_little_cost(tmp_path: Path, parts: object, name: str) -> None:
    assert callable(parts)
    path = write(tmp_path / name, *([FIRST] if name.endswith(".xz") else []), *parts())
    said = subprocess.run([sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=True).stdout
    seconds, size, answer = said.split(" ", 2)
    assert "there is neither a file nor the end of the archive" in answer
    assert str(path) in answer
    assert float(seconds) < _SECONDS
    assert int(size) < _BYTES


def test_a_hole_in_an_archive_that_is_not_compressed(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with path.open("wb") as file:
        file.write(header("x", tarfile.GNUTYPE_LONGNAME, _MANY))
        file.truncate(_MANY + 512)
    said = subprocess.run([sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=True).stdout
    _, size, answer = said.split(" ", 2)
    assert "there is neither a file nor the end" in answer
    assert int(size) < _BYTES


def told(path: Path, *parts: Part) -> str:
    """Return the message of listing an archive, "" if there is none."""
    found = list(code_in(str(write(path, *parts))))
    assert all(isinstance(each, BadArchiveError) for each in found)
    return str(found[0]) if found else ""


def test_headers_and_ends_at_the_limit_and_one_above(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    block, record = tarfile.BLOCKSIZE, tarfile.RECORDSIZE
    for size, is_fine in ((HEADERS_LIMIT - 4 * record, True), (HEADERS_LIMIT + 1, False)):
        name = header("x", tarfile.GNUTYPE_LONGNAME, size) + b"n" * size + bytes(-size % block)
        assert (told(path, name, FILE, END) == "") is is_fine
    for size, is_fine in ((END_LIMIT, True), (END_LIMIT + 1, False)):
        assert (told(path, FILE, size) == "") is is_fine


@pytest.mark.parametrize("at", [100, 148, 257])
def test_a_damaged_header_is_not_the_end(tmp_path: Path, at: int) -> None:
    """The module tarfile takes the header for the end: the members behind it would be missing."""
    bad = bytearray(header(f"{STAGE}/b"))
    bad[at] ^= 1
    parts = (FIRST, FILE, bytes(bad), with_data(f"{STAGE}/c", b"c"), END)
    assert "no valid header at byte 2048" in told(tmp_path / "x.tar.gz", *parts)
    path = write(tmp_path / "blas_lib_generic.tar.xz", *parts)
    with pytest.raises(PackagingError, match=f"{path}: is damaged: no valid header at byte 2048"):
        unpack(path, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_data_behind_the_end_is_not_ignored(tmp_path: Path) -> None:
    """As of two archives in a row."""
    path = write(tmp_path / "blas_lib_generic.tar.xz", FIRST, FILE, END, FIRST, END)
    with pytest.raises(PackagingError, match="is damaged: there is data behind its end"):
        unpack(path, tmp_path / "cache")
    assert "there is data behind its end" in told(tmp_path / "x.tar.gz", FILE, END, FILE)


def refused(path: Path, match: str, *members: bytes) -> None:
    with pytest.raises(PackagingError, match=f"{path}: .*{match}"):
        unpack(write(path, FIRST, *members, END), path.parent / "cache")
    assert list((path.parent / "cache").iterdir()) == []


def test_members_at_the_limit_and_one_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "blas_lib_generic.tar.xz"
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 10)
    members = [header(f"{STAGE}/{number}") for number in range(10)]
    refused(path, "has more than 10 members", *members)
    unpack(write(path, FIRST, *members[:9], END), tmp_path / "cache")


def test_deep_and_long_names(tmp_path: Path) -> None:
    path = tmp_path / "blas_lib_generic.tar.xz"

    def named(name: str) -> bytes:
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(name))
        return data.getvalue()[: -(-len(name) // 512 + 3) * 512] if len(name) > 100 else header(name)

    depth = DEPTH_LIMIT - len(STAGE.split("/"))
    refused(path, f"directories more than {DEPTH_LIMIT} deep", named(f"{STAGE}/{'a/' * depth}a"))
    refused(path, "longer than the system allows", named(f"{STAGE}/{'a' * 256}"))
    unpack(write(path, FIRST, named(f"{STAGE}/{'a/' * (depth - 1)}a"), END), tmp_path / "cache")


def test_files_that_take_more_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "blas_lib_generic.tar.xz"
    info = tarfile.TarInfo(f"{STAGE}/a")
    info.size = 1 << 60
    refused(path, "takes 1152921504606846976 bytes, and the disk of the cache has", info.tobuf(tarfile.GNU_FORMAT))
    sparse = bytearray(header(f"{STAGE}/a", tarfile.GNUTYPE_SPARSE))
    sparse[483:495] = b"%011o\0" % (1 << 20)
    sparse[148:156] = b"%06o\0 " % (sum(sparse[:148]) + 8 * 32 + sum(sparse[156:]))
    refused(path, "is a sparse file", bytes(sparse))
