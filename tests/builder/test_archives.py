"""Artifacts in archives: unpacked as the directories they were made from, or refused."""

import hashlib
import io
import lzma
import os
import stat
import tarfile
from pathlib import Path

import pytest
from artifact_tree import MANIFEST, STAGE, usual_tree

from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.archives import unpack
from rocm_sdk_build.inputs.catalog import read_catalog
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.wish import Wish

ZSTD = import_zstd()
Member = tuple[tarfile.TarInfo, bytes]
DECOMPRESS = {"zst": ZSTD.decompress, "xz": lzma.decompress}
COMPRESS = {"zst": ZSTD.compress, "xz": lzma.compress}


def pack(directory: Path, suffix: str) -> Path:
    """Write an archive in place of an artifact's directory, as the ROCm build does, and return its path."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(directory / MANIFEST, MANIFEST)
        for line in (directory / MANIFEST).read_text().split():
            if (directory / line).is_dir():
                archive.add(directory / line, line)
    path = directory.with_name(f"{directory.name}.tar.{suffix}")
    path.write_bytes(COMPRESS[suffix](buffer.getvalue()))
    path.with_name(f"{path.name}.sha256sum").write_text(hashlib.sha256(path.read_bytes()).hexdigest() + "\n")
    for top, directories, files in os.walk(directory, topdown=False):
        for name in (*directories, *files):
            each = Path(top, name)
            if each.is_dir() and not each.is_symlink():
                each.rmdir()
            else:
                each.unlink()
    directory.rmdir()
    return path


@pytest.mark.slow
def test_the_same_packages(tmp_path: Path) -> None:
    """Archives and directories mixed give the packages that directories give, twice."""
    plain, packed = usual_tree(tmp_path / "plain").root, usual_tree(tmp_path / "packed").root
    for number, directory in enumerate(sorted(packed.iterdir())):
        if number % 3 < 2:
            pack(directory, ("zst", "xz")[number % 3])
    expected = build(Wish([plain], tmp_path / "one", "7.10.0"), read_rules())
    for _ in range(2):
        for path, other in zip(build(Wish([packed], tmp_path / "two", "7.10.0"), read_rules()), expected, strict=True):
            assert path.name == other.name
            assert path.read_bytes() == other.read_bytes(), path.name


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> Member:
    found = tarfile.TarInfo(name)
    found.size, found.type, found.linkname, found.mode = len(data), kind, link, mode
    return found, data


def archive(path: Path, *members: Member, manifest: str = STAGE) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        first, data = member(MANIFEST, f"{manifest}\n".encode())
        if manifest:
            tar.addfile(first, io.BytesIO(data))
        for each, content in members:
            tar.addfile(each, io.BytesIO(content))
    path.write_bytes(ZSTD.compress(buffer.getvalue()))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "blas_lib_generic.tar.zst"


FILE = member(f"{STAGE}/lib/a", b"a")
LINK = member(f"{STAGE}/out", kind=tarfile.SYMTYPE, link="/tmp")
HOSTILE = [
    ((member("/etc/evil"),), "leads out of the artifact"),
    ((member(f"{STAGE}/../../evil"),), "leads out of the artifact"),
    ((member(f"{STAGE}//x"),), "leads out of the artifact"),
    ((member("other/stage/x"),), "in no directory of its manifest"),
    ((member(f"{STAGE}2/x"),), "in no directory of its manifest"),
    ((member(MANIFEST),), "in no directory of its manifest"),
    ((LINK, member(f"{STAGE}/out/evil", b"x")), "which is not a directory"),
    ((FILE, member(f"{STAGE}/lib/a/b")), "which is not a directory"),
    ((FILE, FILE), "twice"),
    ((LINK, member(f"{STAGE}/out", kind=tarfile.DIRTYPE)), "twice"),
    ((member(f"{STAGE}/x", kind=tarfile.LNKTYPE, link="/etc/passwd"),), "not a file before it"),
    ((member(f"{STAGE}/x", kind=tarfile.LNKTYPE, link=MANIFEST),), "not a file before it"),
    ((LINK, member(f"{STAGE}/x", kind=tarfile.LNKTYPE, link=f"{STAGE}/out")), "not a file before it"),
    ((member(f"{STAGE}/x", kind=tarfile.FIFOTYPE),), "neither a file nor a directory nor a link"),
    ((member(f"{STAGE}/x", kind=tarfile.CHRTYPE),), "neither a file nor a directory nor a link"),
]


@pytest.mark.parametrize(("members", "told"), HOSTILE)
def test_hostile_members(path: Path, tmp_path: Path, members: tuple[Member, ...], told: str) -> None:
    archive(path, *members)
    with pytest.raises(PackagingError, match=told) as raised:
        unpack(path, tmp_path / "cache")
    assert str(raised.value).startswith(f"{path}: ")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("manifest", ["", "../x", "/x", "x/../../y"])
def test_hostile_manifests(path: Path, tmp_path: Path, manifest: str) -> None:
    with pytest.raises(PackagingError, match=r"first member|leads out"):
        unpack(archive(path, FILE, manifest=manifest), tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_is_unpacked(path: Path, tmp_path: Path) -> None:
    members = [
        member(f"{STAGE}/bin/tool", b"x", mode=0o4755),
        member(f"{STAGE}/bin/again", kind=tarfile.LNKTYPE, link=f"{STAGE}/bin/tool"),
        member(f"{STAGE}/locked", b"y", mode=0o000),
        LINK,
    ]
    directory = unpack(archive(path, *members), tmp_path / "cache")
    assert directory.name == "blas_lib_generic"
    root = directory / STAGE
    assert stat.S_IMODE((root / "bin/tool").stat().st_mode) == 0o755
    assert (root / "bin/again").samefile(root / "bin/tool")
    assert stat.S_IMODE((root / "locked").stat().st_mode) == 0o600
    assert (root / "out").readlink() == Path("/tmp")
    before = directory.stat().st_ino
    assert unpack(path, tmp_path / "cache").stat().st_ino == before
    archive(path, FILE)
    assert (unpack(path, tmp_path / "cache") / STAGE / "lib/a").read_bytes() == b"a"


@pytest.mark.parametrize("suffix", ["zst", "xz"])
def test_damaged_archives(tmp_path: Path, suffix: str) -> None:
    whole = archive(tmp_path / "whole", member(f"{STAGE}/x", os.urandom(100_000)))
    data = COMPRESS[suffix](ZSTD.decompress(whole.read_bytes()))
    path = tmp_path / f"blas_lib_generic.tar.{suffix}"
    for broken in (b"", data[:1000], data[: len(data) // 2], b"no archive"):
        path.write_bytes(broken)
        with pytest.raises(PackagingError, match=f"{path.name}: "):
            unpack(path, tmp_path / "cache")
        assert list((tmp_path / "cache").iterdir()) == []


def test_checksums(path: Path, tmp_path: Path) -> None:
    archive(path, FILE)
    sidecar = path.with_name(f"{path.name}.sha256sum")
    for text, told in (("", "holds no SHA-256"), ("0" * 63, "holds no SHA-256"), ("0" * 64, "is not the file that")):
        sidecar.write_text(text)
        with pytest.raises(PackagingError, match=told):
            unpack(path, tmp_path / "cache")
    sidecar.write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    assert unpack(path, tmp_path / "cache").is_dir()


def test_which_one_counts(path: Path, tmp_path: Path) -> None:
    archive(path, FILE)
    path.with_suffix(".xz").write_bytes(b"not read")
    (tmp_path / "notes.tar.zst").write_bytes(b"not read")
    (artifact,) = read_catalog([tmp_path], tmp_path / "cache")
    assert [entry.path for entry in artifact.entries] == ["lib", "lib/a"]
    own = tmp_path / "blas_lib_generic"
    (own / STAGE).mkdir(parents=True)
    (own / MANIFEST).write_text(STAGE)
    (artifact,) = read_catalog([tmp_path], tmp_path / "cache")
    assert artifact.entries == ()


@pytest.mark.parametrize("suffix", ["zst", "xz"])
def test_a_corrupt_digest_at_the_end(tmp_path: Path, suffix: str) -> None:
    """The corrupt digest comes after the end of the tar archive."""
    tree = usual_tree(tmp_path / "tree")
    path = pack(tree.root / "base_lib_generic", suffix)
    path.with_name(f"{path.name}.sha256sum").unlink()
    with tarfile.open(fileobj=io.BytesIO(DECOMPRESS[suffix](path.read_bytes()))) as archive:
        assert archive.getnames()
    plain = DECOMPRESS[suffix](path.read_bytes()) + bytes(1 << 20)
    options = {ZSTD.CompressionParameter.checksum_flag: 1}
    data = bytearray(ZSTD.compress(plain, options=options) if suffix == "zst" else lzma.compress(plain))
    data[-1 if suffix == "zst" else -40] ^= 1
    path.write_bytes(data)
    with pytest.raises(PackagingError, match="is damaged"):
        unpack(path, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
