"""`rocm-sdk code` of directories, wheels, zip files and tar archives: read without unpacking, whatever they claim."""

import bz2
import gzip
import io
import lzma
import os
import random
import struct
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ended import assert_failed, assert_refused
from other_user import OtherUser
from programs import completed
from sample_device_code import BUNDLE_MAGIC, bundle, code_object, compressed, kpack, library, objects
from sample_site import clean_environment

from rocm_sdk import BadArchiveError, RocmSdkError
from rocm_sdk.base.zstd import ZSTD_FIX, ZSTD_MODULE, import_zstd
from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk.fit.code.member import code_of_stream

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
CONTENT = bundle(objects("gfx1030", "gfx90a:xnack-", size=50_000))


def ask(*paths: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return completed([str(SCRIPT), "code", *map(str, paths)], env=clean_environment() | variables, timeout=60)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a directory with two libraries with code, one in a lower directory, and with files without code."""
    directory = tmp_path / "files"
    (directory / "lib/sub").mkdir(parents=True)
    library(directory / "lib/liba.so", [CONTENT])
    library(directory / "lib/sub/libb.so", [compressed(CONTENT, 3)])
    for left in directory.rglob("*.[bs]*"):
        if left.suffix != ".so" and left.is_file():
            left.unlink()
    (directory / "lib/kernels.kpack").write_bytes(kpack({"x#0": {"gfx942": code_object(0x54C)}}))
    (directory / "lib/notes.txt").write_text("no code here, but more than sixty-four bytes of text that is not any\n")
    (directory / "lib/empty").write_bytes(b"")
    return directory


def zipped(files: Path, path: Path, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for file in sorted(files.rglob("*")):
            archive.write(file, str(file.relative_to(files)))
    return path


def lines(text: str) -> list[str]:
    """Return the files in archives: an archive is named once in the text, and its members stand below it."""
    head, *below = text.splitlines()
    assert head.strip() == head
    return [f"{head}/{line.split()[0]}" for line in below if line.startswith("  ") and line[2] != " "]


def make_wheel(files: Path, tmp_path: Path) -> Path:
    return zipped(files, tmp_path / "x-1-py3-none-any.whl")


def make_stored(files: Path, tmp_path: Path) -> Path:
    return zipped(files, tmp_path / "x.zip", zipfile.ZIP_STORED)


def make_tar(mode: str, name: str) -> Callable[[Path, Path], Path]:
    def make(files: Path, tmp_path: Path) -> Path:
        with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
            archive.add(files / "lib", "lib")
        return tmp_path / name

    return make


def make_tar_zst(files: Path, tmp_path: Path) -> Path:
    packed = tmp_path / "x.tar.zst"
    packed.write_bytes(import_zstd().compress(make_tar("w", "x.tar")(files, tmp_path).read_bytes()))
    return packed


@pytest.mark.parametrize(
    "make",
    [
        make_wheel,
        make_stored,
        make_tar("w", "x.tar"),
        make_tar("w:gz", "x.tar.gz"),
        make_tar("w:xz", "x.tar.xz"),
        make_tar_zst,
        make_tar("w", "no-suffix"),
        lambda files, _: files,
    ],
    ids=["wheel", "stored", "tar", "tar.gz", "tar.xz", "tar.zst", "tar without suffix", "directory"],
)
def test_each_kind(files: Path, tmp_path: Path, make: Callable[[Path, Path], Path]) -> None:
    path = make(files, tmp_path)
    result = ask(path)
    assert (result.returncode, result.stderr) == (0, "")
    names = [f"{path}/lib/{name}" for name in ("kernels.kpack", "liba.so", "sub/libb.so")]
    assert sorted(lines(result.stdout)) == names
    assert result.stdout.count("gfx90a:xnack- 50.0 kB   gfx1030 50.0 kB") == 2


def test_the_same_as_unpacked(files: Path, tmp_path: Path) -> None:
    """The facts of a member equal the facts of the file, offsets too."""
    program = (
        "import sys, rocm_sdk.fit.code.found_code as a\n"
        "print([tuple(c)[1:] for c in a.code_in(sys.argv[1]) if c.targets])"
    )
    stored, deflated = make_stored(files, tmp_path), make_wheel(files, tmp_path)
    said = {
        subprocess.check_output([sys.executable, "-c", program, str(path)], text=True)
        for path in (files, stored, deflated, make_tar("w", "x.tar")(files, tmp_path))
    }
    assert len(said) == 1


def test_nothing_is_left_behind(files: Path, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    assert ask(make_wheel(files, tmp_path), TMPDIR=str(place)).returncode == 0
    assert list(place.iterdir()) == []


def test_an_archive_without_code(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("text", "x" * 100)
    result = ask(tmp_path / "x.zip")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"rocm-sdk: {tmp_path}/x.zip: no file with GPU code is in it\n"


def test_a_damaged_member_does_not_hide_the_others(files: Path, tmp_path: Path) -> None:
    content = (files / "lib/liba.so").read_bytes()
    (files / "lib/broken.so").write_bytes(content[: len(content) // 2])
    for path in (make_wheel(files, tmp_path), make_tar("w", "x.tar")(files, tmp_path), files):
        result = ask(path)
        assert result.returncode == 1
        assert len(lines(result.stdout)) == 3
        assert f"rocm-sdk: {path}/lib/broken.so: " in result.stderr
        assert "[E-LIB-006]" in result.stderr


# ---- hostile archives


def refusal(path: Path) -> str:
    result = ask(path)
    assert_refused(result, 1, str(path), "[E-CODE-004]")
    assert "Traceback" not in result.stderr
    return result.stderr


def one_member(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("lib.co", content)
    return bytearray(path.read_bytes())


def patch_sizes(data: bytearray, *, packed: int | None = None, plain: int | None = None) -> None:
    """Change the sizes in the list of members."""
    at = data.index(b"PK\x01\x02")
    for offset, value in ((20, packed), (24, plain)):
        if value is not None:
            struct.pack_into("<L", data, at + offset, value)


def list_of_members(count: int, *, offset: int = 0, zip64: bool = False) -> bytes:
    """Return a zip file of empty members that share the beginning, with its list of them."""
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 2) + bytes(16) + b"xy"
    data = entry * count
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 0xFFFFFFFF if zip64 else len(data), offset, 0)
    if zip64:
        record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(data), 0)
        end = record + struct.pack("<4sLQL", b"PK\x06\x07", 0, len(data), 1) + end
    return data + end


@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("offset", [0, 0x06054B50], ids=["plain", "with a second end inside the end"])
def test_more_members_than_any_wheel(tmp_path: Path, zip64: bool, offset: int) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(list_of_members(600_000, offset=offset, zip64=zip64))
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (150 << 20, 150 << 20))\n"
    program += "from rocm_sdk.cli import main; sys.exit(main())"
    begin = os.times()
    done = completed([sys.executable, "-c", program, "code", str(path)])
    assert os.times().children_user - begin.children_user < 5
    assert_failed(done, 1, f"{path}: it has more than 131072 members, more than any wheel has [E-CODE-004]")
    path.write_bytes(list_of_members(800_000, offset=offset, zip64=zip64))
    assert "its list of members would have 38400000 bytes" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
@pytest.mark.parametrize("plain", [100, 200_000_000, 0xFFFFFFF0])
def test_sizes_that_lie(tmp_path: Path, method: int, plain: int) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, CONTENT, method)
    patch_sizes(data, plain=plain)
    path.write_bytes(data)
    refusal(path)


def test_a_stored_member_that_does_not_lie_in_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, CONTENT, zipfile.ZIP_STORED)
    patch_sizes(data, packed=900_000_000, plain=900_000_000)
    path.write_bytes(data)
    assert_failed(ask(path), 1, "does not lie in its archive")


def test_a_bomb_with_right_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member may not be larger than any library, nor than what the disk has room for; nothing of it is written."""

    def chunks() -> Iterator[bytes]:
        raise AssertionError("nothing is to be decompressed")
        yield b""

    with pytest.raises(RocmSdkError, match="more than any library") as raised:
        code_of_stream("x.zip/lib.co", chunks(), 17 << 30)
    assert raised.value.code == "E-CODE-004"
    facts = os.statvfs("/tmp")
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*facts[:4], 10, *facts[5:])))
    with pytest.raises(RocmSdkError, match="has no room for them") as raised:
        code_of_stream("x.zip/lib.co", chunks(), 1 << 30)
    assert raised.value.code == "E-FILE-007"


MEGABYTE = 1 << 20


@pytest.mark.parametrize("name", ["x.whl", "x.tar.gz", "x.tar.xz", "x.tar.bz2", "x.tar.zst"])
@pytest.mark.parametrize(
    ("sizes", "is_refused"),
    [([65], True), ([63], False), ([40, 40, 40], True), ([20, 20, 20], False)],
    ids=["one", "a small one", "together", "small ones together"],
)
def test_what_a_few_bytes_become(tmp_path: Path, name: str, sizes: list[int], is_refused: bool) -> None:
    """Members are unpacked as far as `check` unpacks those of a wheel."""
    path, elf = tmp_path / name, Path("/bin/true").read_bytes()[:64]
    members = [(f"x/{number}.co", elf + bytes(size * MEGABYTE - 64)) for number, size in enumerate(sizes)]
    if name.endswith(".whl"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for each, data in members:
                archive.writestr(each, data)
    else:
        with tarfile.open(tmp_path / "x.tar", "w") as made:
            for each, data in members:
                info = tarfile.TarInfo(each)
                info.size = len(data)
                made.addfile(info, io.BytesIO(data))
        packers = {".gz": gzip, ".xz": lzma, ".bz2": bz2, ".zst": import_zstd()}
        path.write_bytes(packers[path.suffix].compress((tmp_path / "x.tar").read_bytes()))
    said = ask(path).stderr
    assert (said.count("more than 256 times") == 1) == is_refused, said
    assert ("fix: unpack it and ask about the directory" in said) == is_refused


def test_what_shrinks_as_code_does(tmp_path: Path) -> None:
    """Above 64 MB, what shrinks 100 times is read."""
    path = tmp_path / "x.zip"
    part = os.urandom(10_000) + bytes(990_000)
    one_member(path, CONTENT + part * 70)
    assert "256 times" not in ask(path).stderr


def test_an_encrypted_member(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, CONTENT)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(magic) + offset, 1)
    path.write_bytes(data)
    assert "it is encrypted" in (said := refusal(path))
    assert "fix: unpack it and ask about the directory" in said


def test_another_method(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    one_member(path, CONTENT, zipfile.ZIP_LZMA)
    assert "compressed by method 14" in refusal(path)


def test_members_that_overlap(tmp_path: Path) -> None:
    """Two entries of the list lead to one member."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.co", CONTENT)
        archive.writestr("b.co", CONTENT)
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, second + 42, 0)
    path.write_bytes(data)
    assert "overlap" in refusal(path)


def test_a_list_of_members_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, CONTENT)
    struct.pack_into("<L", data, data.rindex(b"PK\x05\x06") + 12, 0xFFFFFFF0)
    path.write_bytes(data)
    assert "its list of members would have 4294967280 bytes" in refusal(path)
    end_64 = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(end_64 + locator + end)
    path = path.rename(tmp_path / "x.whl")
    assert f"its list of members would have {1 << 40} bytes" in refusal(path)


def test_a_member_of_more_than_four_gigabytes_is_allowed(tmp_path: Path) -> None:
    """ZIP64: sizes of 8 bytes, as wheels with large libraries have them."""
    path = tmp_path / "x.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive,
        archive.open("lib.co", "w", force_zip64=True) as file,
    ):
        file.write(CONTENT)
    assert ask(path).returncode == 0


@pytest.mark.parametrize("cut", [1, 20, 60, 1000, 40_000])
def test_an_archive_that_is_cut_short(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, os.urandom(10) + CONTENT)
    path.write_bytes(data[:-cut] if cut < len(data) else data[: len(data) // 2])
    refusal(path)


def test_no_archive_at_all(tmp_path: Path) -> None:
    for name in ("x.whl", "x.tar", "x.tar.gz"):
        (tmp_path / name).write_bytes(b"nothing of the kind" * 50)
        refusal(tmp_path / name)


def test_a_damaged_stream(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    data = one_member(path, CONTENT)
    for at in range(60, len(data) - 100, 7):
        data[at] ^= 0x55
    path.write_bytes(data)
    result = ask(path)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("place", [0.5, -20])
def test_a_corrupt_byte_in_a_stream(tmp_path: Path, kind: str, place: float) -> None:
    """In a file without code, or in the padding behind the last file: only the digest at the end shows it."""
    path = tmp_path / f"x.tar.{kind}"
    with tarfile.open(path, f"w:{kind}") as archive:  # type: ignore[call-overload]
        for name, data in (("lib.co", bundle(objects("gfx942"))), ("data", random.Random(1).randbytes(1 << 20))):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    assert [isinstance(each, BadArchiveError) for each in code_in(str(path))] == [False]
    data = bytearray(path.read_bytes())
    data[int(len(data) * place) if place > 0 else int(place)] ^= 1
    path.write_bytes(data)
    *_, error = code_in(str(path))
    assert isinstance(error, BadArchiveError)
    assert "no usable tar archive" in error.message


def test_a_stream_of_zstd_that_is_damaged(files: Path, tmp_path: Path) -> None:
    path = make_tar_zst(files, tmp_path)
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:4] + bytes(len(data))):
        path.write_bytes(damaged)
        assert "no usable tar archive" in refusal(path)


def test_zstd_without_its_module(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_tar_zst(files, tmp_path)
    monkeypatch.setitem(sys.modules, ZSTD_MODULE, None)
    (error,) = code_in(str(path))
    assert isinstance(error, BadArchiveError)
    assert (error.fix, error.code) == (ZSTD_FIX, "E-CODE-004")


def test_tar_archives_that_lie(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    info = tarfile.TarInfo("lib.co")
    info.size = 1 << 40
    path.write_bytes(info.tobuf() + CONTENT)
    assert_failed(ask(path), 1, "does not lie in its archive")
    packed = tmp_path / "x.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO(b""))
    packed.write_bytes(packed.read_bytes()[:-12])
    assert ask(packed).returncode == 1


def test_links_of_a_tar_archive_lead_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo("lib.so")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert "no file with GPU code" in ask(path).stderr


_ERRORS = """
import sys
import rocm_sdk.fit.code.found_code
print([str(each) for each in rocm_sdk.fit.code.found_code.code_in(sys.argv[1]) if isinstance(each, Exception)])
"""


def test_a_directory_that_cannot_be_listed(other_user: OtherUser, open_directory: Path) -> None:
    """Asked as another user: the superuser may list everything."""
    hidden = open_directory / "hidden"
    hidden.mkdir()
    hidden.chmod(0)
    said = other_user.run("-c", _ERRORS, open_directory, check=True).stdout
    assert said == f"{[f'{hidden}: cannot read: Permission denied [E-FILE-007]']}\n"


@pytest.mark.parametrize("words", [("code",), ("info", "--build-id")], ids=" ".join)
def test_a_file_of_another_user_that_nobody_may_read(
    other_user: OtherUser, open_directory: Path, words: tuple[str, ...]
) -> None:
    path = open_directory / "closed.so"
    path.write_bytes(CONTENT)
    path.chmod(0)
    said = other_user.run("-m", "rocm_sdk", *words, path)
    assert said.returncode != 0
    assert f"Run as root: chmod a+r {path}" in said.stdout + said.stderr


@pytest.mark.parametrize(("closed", "right"), [("closed.so", "a+r"), ("shut", "a+x")])
def test_what_another_user_keeps_for_himself(
    other_user: OtherUser, open_directory: Path, closed: str, right: str
) -> None:
    path = open_directory / closed
    path = path if path.suffix else path / "a/b.so"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    (open_directory / closed).chmod(0o600)
    said = other_user.run("-m", "rocm_sdk", "code", path)
    assert_failed(
        said,
        1,
        f"{path}: cannot open: Permission denied [E-FILE-007]\n",
        f"  fix: Run as root: chmod {right} {open_directory / closed}\n",
    )


# ---- sizes


def test_a_warning_near_the_limit_of_linkers(tmp_path: Path) -> None:
    """A section of code of 1.9 GB; the file has holes."""
    size = 1_900_000_000
    entry = b"hipv4-amdgcn-amd-amdhsa--gfx942"
    head = BUNDLE_MAGIC + struct.pack("<QQQQ", 1, 4096, size - 4096, len(entry)) + entry
    names = b"\0.hip_fatbin\0.shstrtab\0"
    sections = 4096 + size
    path = tmp_path / "large.o"
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 1, 62, 1, 0, 0, sections + 64, 0, 64, 0, 0, 64, 3, 2
    )
    table = bytes(64)
    table += struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 4096, size, 0, 0, 4096, 0)
    table += struct.pack("<IIQQQQIIQQ", 13, 3, 0, 0, sections, len(names), 0, 0, 1, 0)
    with path.open("wb") as file:
        file.write(header)
        file.seek(4096)
        file.write(head)
        file.seek(8192)
        file.write(code_object(0x54C, size=64))
        file.seek(sections)
        file.write(names)
        file.seek(sections + 64)
        file.write(table)
    result = ask(path)
    assert result.returncode == 0
    assert "[W-CODE-005]" in result.stderr
    assert "1900000000 bytes of GPU code" in result.stderr


def test_a_size_that_leads_back(tmp_path: Path) -> None:
    odd = tarfile.TarInfo("odd")
    odd.size = -512
    path = tmp_path / "odd.tar"
    path.write_bytes(tarfile.TarInfo("first").tobuf() + odd.tobuf(tarfile.GNU_FORMAT) + bytes(10240))
    said = ask(path)
    assert said.returncode == 1
    assert "no valid header at byte 512: " in said.stderr  # newer releases of tarfile say why themselves
