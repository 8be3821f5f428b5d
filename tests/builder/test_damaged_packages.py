"""Damaged packages: `code`, `promote` and `index` name the package and what is wrong with it, and leave nothing."""

import io
import json
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, library, objects

from rocm_sdk import RewriteError, RocmSdkError
from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk.installed.directory_walk import DEPTH_LIMIT
from rocm_sdk_build.base.damaged import SMALL_LIMIT
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.unpacked import unpack
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.trees import rewrite_wheel
from rocm_sdk_build.inputs.catalog import scan
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.output.promotion import promote
from rocm_sdk_build.packages.tar_archives import tar_gz_member

NAME = "rocm_sdk_core-7.0.0rc1-py3-none-any.whl"
INFO = "rocm_sdk_core-7.0.0rc1.dist-info"
METADATA = "Metadata-Version: 2.4\nName: rocm-sdk-core\nVersion: 7.0.0rc1\n"
FAMILIES = "# families\n__version__ = '7.0.0rc1'\nAVAILABLE_TARGET_FAMILIES.append('gfx942')\n"


def wheel(directory: Path, library_at: Path | None = None, **changes: bytes) -> Path:
    """Write a wheel of an SDK, and return its path.

    `changes` is other content of members, by the last part of their names without the suffix.
    """
    directory.mkdir(parents=True, exist_ok=True)
    members = {
        "_rocm_sdk_core/lib/libx.so": library_at.read_bytes() if library_at else b"x" * 9000,
        "rocm_sdk_core/_dist_info.py": FAMILIES.encode(),
        "_rocm_sdk_core/.devel_links/links.json": b'{"version": "7.0.0rc1"}',
        "_rocm_sdk_core/share/therock/dist_info.json": b'{"dist_amdgpu_targets": "gfx942"}',
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/RECORD": b"a,,\n",
    }
    with zipfile.ZipFile(directory / NAME, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, changes.get(Path(name).stem, data))
    return directory / NAME


def patched(
    path: Path, member: str, *, local: tuple[int, bytes] = (0, b""), central: tuple[int, bytes] = (0, b"")
) -> None:
    """Write other bytes at offsets in both headers of a member."""
    with zipfile.ZipFile(path) as archive:
        info, start = archive.getinfo(member), archive.start_dir
    data = bytearray(path.read_bytes())
    at = data.index(member.encode(), start) - 46
    for place, (offset, new) in ((info.header_offset, local), (at, central)):
        data[place + offset : place + offset + len(new)] = new
    path.write_bytes(data)


def bad_deflate(path: Path, member: str) -> None:
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(member)
    data = bytearray(path.read_bytes())
    at = info.header_offset + 30 + len(member)
    data[at : at + info.compress_size] = b"\xff" * info.compress_size
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path, str], None]] = {
    "CRC": partial(patched, central=(16, b"abcd")),
    "encrypted": partial(patched, local=(6, b"\x01\0"), central=(8, b"\x01\0")),
    "strongly encrypted": partial(patched, local=(6, b"\x40\0"), central=(8, b"\x40\0")),
    "unknown method": partial(patched, local=(8, b"\x63\0"), central=(10, b"\x63\0")),
    "LZMA": partial(patched, local=(8, b"\x0e\0"), central=(10, b"\x0e\0")),
    "bzip2": partial(patched, local=(8, b"\x0c\0"), central=(10, b"\x0c\0")),
    "deflate": bad_deflate,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_members(tmp_path: Path, damage: Callable[[Path, str], None]) -> None:
    plain = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942", size=9000))])
    path = wheel(tmp_path / "in", plain)
    damage(path, f"{INFO}/METADATA")
    with pytest.raises(RewriteError, match="it is damaged, or its members cannot be read") as refused:
        rewrite_wheel(str(path), str(tmp_path / NAME), NewCode(("gfx1030",)))
    assert refused.value.path == str(path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for work in (
        lambda: promote(tmp_path / "in", tmp_path / "release", "7.0.0"),
        lambda: write_index(tmp_path / "in"),
        lambda: unpack(path, tmp_path / "unpacked", scratch),
    ):
        with pytest.raises(PackagingError, match=f"{path}: is damaged") as caught:
            work()
        assert caught.value.fix
    assert {each.name for each in tmp_path.iterdir()} <= {"in", "libx.so", "libx.0.bundle", "release", "scratch"}
    assert not list((tmp_path / "release").rglob("*"))
    damage(path, "_rocm_sdk_core/lib/libx.so")
    assert all(isinstance(each, RocmSdkError) for each in code_in(str(path)))


RECORDS = {
    "not UTF-8": b"\xff,,\n",
    "a long field": b"a" * 131_073 + b",,\n",
    "a NUL": b"a\0,,\n",
    "a quote": b'"a,,\n"b"c"',
}


@pytest.mark.parametrize("name", RECORDS)
def test_damaged_records(tmp_path: Path, name: str) -> None:
    plain = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942", size=9000))])
    path = wheel(tmp_path / "in", plain, RECORD=RECORDS[name])
    try:
        rewrite_wheel(str(path), str(tmp_path / NAME), NewCode(("gfx1030",)))
    except RewriteError as error:
        assert str(path) in str(error)
        assert "RECORD" in str(error)
    else:
        assert name == "a quote"  # which csv takes


BROKEN = {
    "METADATA": (b"\xff", b"\0" * 100),
    "_dist_info": (b"\xff", FAMILIES.replace("'gfx942')", "[)").encode(), b"x", b"(" * 9000),
    "links": (b"\xff", b"{", b"[]", b"[" * 100_000, b"\0"),
    "dist_info": (b"\xff", b"{", b"[1]", b"[" * 100_000, b"null"),
}


@pytest.mark.parametrize("member", BROKEN)
def test_damaged_content(tmp_path: Path, member: str) -> None:
    for number, content in enumerate(BROKEN[member]):
        path = wheel(tmp_path / f"in{number}", **{member: content})
        try:
            promote(path.parent, tmp_path / "release", "7.0.0")
        except PackagingError as error:
            assert str(error).startswith(f"{path}: "), error
            assert member in str(error)
            assert not (tmp_path / "release").exists()
        else:
            assert member == "METADATA"
            assert content == b"\0" * 100  # it has no version that would change
            next((tmp_path / "release").iterdir()).unlink()


@pytest.mark.slow
def test_metadata_at_the_limit_and_one_above(tmp_path: Path) -> None:
    place = tmp_path / "in"
    wheel(place, METADATA=METADATA.encode().ljust(SMALL_LIMIT, b"\n"))
    write_index(place)
    promote(place, tmp_path / "release", "7.0.0")
    wheel(place, METADATA=METADATA.encode().ljust(SMALL_LIMIT + 1, b"\n"))
    for work in (lambda: write_index(place), lambda: promote(place, tmp_path / "release", "7.0.0")):
        with pytest.raises(PackagingError, match=f"it has more than {SMALL_LIMIT} bytes"):
            work()


SELECTION = {
    "version": "7.0.0rc1",
    "families": ["gfx942"],
    "default": "gfx942",
    "requires": [],
    "extras": {"x": ["a{family}==1"]},
}


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        *(json.dumps({**SELECTION, key: 7}).encode() for key in ("families", "extras")),
    ],
)
def test_damaged_selectors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in/rocm-7.0.0rc1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("rocm-7.0.0rc1/selector.json")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    for work in (
        lambda: promote(tmp_path / "in", tmp_path / "release", "7.0.0"),
        lambda: write_index(tmp_path / "in"),
    ):
        with pytest.raises(PackagingError, match=str(path)):
            work()
    data = path.read_bytes()
    path.write_bytes(data[:-12] + b"\xff" * 4 + data[-8:])
    for work in (
        lambda: promote(tmp_path / "in", tmp_path / "release", "7.0.0"),
        lambda: write_index(tmp_path / "in"),
    ):
        with pytest.raises(PackagingError, match=str(path)):
            work()


def test_a_selector_that_lacks_something(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in/rocm-7.0.0rc1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(*tar_gz_member("rocm-7.0.0rc1/selector.json", json.dumps(SELECTION).encode()))
    with pytest.raises(PackagingError, match=f"{path}: selector.json: is damaged: 'summary'"):
        promote(tmp_path / "in", tmp_path / "release", "7.0.0")
    assert not (tmp_path / "release").exists()


def test_a_selector_with_a_name_without_end(tmp_path: Path) -> None:
    """32 MB of zeros take 32 kB of the file, and tarfile reads a name into memory."""
    (tmp_path / "in").mkdir()
    path = tmp_path / "in/rocm-7.0.0rc1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(*tar_gz_member("x" * (1 << 25), b""))
        archive.addfile(*tar_gz_member("rocm-7.0.0rc1/selector.json", json.dumps(SELECTION).encode()))
    for work in (
        lambda: promote(tmp_path / "in", tmp_path / "release", "7.0.0"),
        lambda: write_index(tmp_path / "in"),
    ):
        with pytest.raises(PackagingError, match=f"{path}: selector.json: is damaged: it has more than 16777216 bytes"):
            work()


def test_deep_directories(tmp_path: Path) -> None:
    deepest = tmp_path / "a"
    for depth in range(DEPTH_LIMIT - 1):
        deepest /= str(depth % 10)
    deepest.mkdir(parents=True)
    assert len(list(scan(tmp_path))) == DEPTH_LIMIT
    (deepest / "x").mkdir()
    with pytest.raises(PackagingError, match=f"directories more than {DEPTH_LIMIT} deep in each other"):
        list(scan(tmp_path))


def test_very_deep_directories(tmp_path: Path) -> None:
    """Deeper than the interpreter calls functions, and than directories are followed."""
    make = "import os\nfor _ in range(1100):\n os.mkdir('d')\n os.chdir('d')"
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True)
    try:
        found = list(code_in(str(tmp_path)))
        assert [isinstance(each, RocmSdkError) for each in found] == [True]
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)


def test_a_member_without_a_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr("a", b"x" * 900)
    data = (tmp_path / "x.whl").read_bytes()
    at = data.index(b"PK\1\2")
    directory = bytearray(data[at:])
    directory[28:30] = b"\0\0"  # the length of the name
    directory[30:32] = b"\1\0"  # which is an extra field then
    (tmp_path / "x.whl").write_bytes(data[:at] + directory)
    assert all(isinstance(each, RocmSdkError) for each in code_in(str(tmp_path / "x.whl")))


def no_space(size: int) -> Callable[[], None]:
    """Return a function that limits the size of files in a child process."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.slow
def test_no_space_left_names_the_output(tmp_path: Path) -> None:
    plain = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942", size=90_000))])
    path = wheel(tmp_path / "in", plain)
    (tmp_path / "temporary").mkdir()
    for words, place in (
        (["code", str(plain), "--keep", "gfx1030", "--output", str(tmp_path / "new")], "rocm-sdk-build: {}/new"),
        (["code", str(plain), "--keep", "gfx1030", "--dry-run"], "rocm-sdk-build: {}/temporary"),
        (["code", str(plain), "--extract", str(tmp_path / "out")], "rocm-sdk-build: {}/out"),
        (["code", str(path), "--keep", "gfx1030", "--output", str(tmp_path / NAME)], "rocm-sdk-build: {}/" + NAME),
        (
            ["promote", str(tmp_path / "in"), "--output", str(tmp_path / "o"), "--version", "7.0.0"],
            "rocm-sdk-build: {}/o",
        ),
    ):
        command = [sys.executable, "-m", "rocm_sdk_build", *words]
        done = completed(
            command,
            preexec_fn=no_space(8192),
            env={"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path / "temporary"), "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 1
        assert done.stderr.startswith(place.format(tmp_path)), done.stderr
        assert done.stderr.endswith("File too large\n"), done.stderr


def test_more_than_the_disk_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=9000))
    with pytest.raises(PackagingError, match=r"has 9000 bytes free, and the members of .* take"):
        promote(wheel(tmp_path / "in").parent, tmp_path / "release", "7.0.0")
