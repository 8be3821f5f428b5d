"""Archives that want more than to make a tree, and damaged ones: refused by name, with nothing left behind."""

import gzip
import lzma
import os
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_input import INIT, MEMBERS, TREE
from sample_devel import DevelSite, devel_files, link, make_archive, member, sample_members, write

from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.devel.archive import Archive
from rocm_sdk.errors import BadArchiveError


def refused(site: DevelSite, *words: str) -> str:
    """Return the error of a refused archive; nothing except the lock is new."""
    before = site.names()
    result = site.command("init", check=False)
    assert (result.returncode, result.stdout) == (1, ""), result.stderr
    assert "Traceback" not in result.stderr
    assert site.names() == before | {".rocm_sdk_devel.lock"}
    for word in words:
        assert word in result.stderr
    return result.stderr


@pytest.mark.parametrize("name", MEMBERS)
def test_hostile_members(make_site: Callable[..., DevelSite], name: str) -> None:
    site = make_site()
    site.install_sdk()
    members = MEMBERS[name]
    nonce = name == "link to another nonce"
    site.install_devel([INIT, *members] if not nonce else [member("_rocm_sdk_devel_n2/__init__.py"), *members])
    refused(site, "member ", repr(members[-1][0].name.rstrip("/"))[1:-1])


def test_a_member_larger_than_the_disk(devel_site: DevelSite) -> None:
    info, _ = member(f"{TREE}/evil", size=1 << 50)
    data = make_archive([INIT])[:1024].rstrip(b"\0").ljust(512, b"\0")[:512] + info.tobuf(tarfile.GNU_FORMAT)
    devel_site.install("rocm-sdk-devel", devel_files(data))
    refused(devel_site, "evil", "not enough disk space")


def test_a_header_larger_than_any(devel_site: DevelSite) -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    data = make_archive([INIT])[:512] + long_name.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)
    devel_site.install("rocm-sdk-devel", devel_files(data))
    refused(devel_site, "_devel.tar is damaged", "a header of more than 1048576 bytes")


def test_headers_that_are_long_together(devel_site: DevelSite) -> None:
    """Each could be a member's; Python 3.14 also reads a single one in pieces of which each is short."""
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 600 << 10
    header = long_name.tobuf(tarfile.GNU_FORMAT) + b"x" * long_name.size
    data = make_archive([INIT])
    devel_site.install("rocm-sdk-devel", devel_files(data[:512] + header * 2 + data[512:]))
    refused(devel_site, "_devel.tar is damaged", "a header of more than 1048576 bytes")


@pytest.mark.parametrize("size", [-512, 1 << 70])
@pytest.mark.parametrize("name", ["_devel.tar", "_devel.tar.xz"])
def test_a_size_that_no_file_has(tmp_path: Path, name: str, size: int) -> None:
    """The module tarfile takes both sizes, until a correction in 2025.

    A negative size would lead back to the same header without end.
    """
    odd = tarfile.TarInfo(f"{TREE}/odd")
    odd.size = size
    data = make_archive([INIT])[:512] + odd.tobuf(tarfile.GNU_FORMAT)
    path = tmp_path / name
    path.write_bytes(lzma.compress(data) if name.endswith(".xz") else data)
    with (
        Archive(str(path)) as archive,
        pytest.raises(BadArchiveError, match=f"odd would have {size} bytes|no valid header at byte"),
    ):
        list(archive.headers())


def test_headers_without_end(devel_site: DevelSite) -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 10
    header = long_name.tobuf(tarfile.GNU_FORMAT) + b"x".ljust(512, b"\0")
    devel_site.install("rocm-sdk-devel", devel_files(make_archive([INIT])[:512] + header * 3000))
    refused(devel_site, "_devel.tar is damaged")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_devel.tar", "_devel.tar.xz", "_devel.tar.zst"])
def test_truncated(make_site: Callable[..., DevelSite], name: str) -> None:
    site = make_site()
    site.install_sdk(name)
    whole = make_archive(sample_members(), name)
    used = len(whole.rstrip(b"\0"))
    for length in (0, 1, 511, 512, 513, used // 3, used - 1, len(whole) - 1 if name != "_devel.tar" else used):
        site.install("rocm-sdk-devel", devel_files(whole[:length], name))
        refused(site, name, "damaged" if length else "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_devel.tar", "_devel.tar.xz", "_devel.tar.zst"])
def test_damaged(make_site: Callable[..., DevelSite], name: str) -> None:
    """A bit flipped anywhere: RECORD has the digest of the archive."""
    site = make_site()
    site.install_sdk(name)
    whole = make_archive(sample_members(), name)
    chance = random.Random(7)
    for _ in range(6):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        write(site.path / "rocm_sdk_devel" / name, bytes(damaged))
        refused(site, name)


def test_a_damaged_header_is_not_the_end(devel_site: DevelSite) -> None:
    data = bytearray(make_archive([INIT, member(f"{TREE}/a", b"x" * 512), member(f"{TREE}/b")]))
    data[1536 + 10] ^= 1
    devel_site.install("rocm-sdk-devel", devel_files(bytes(data)))
    refused(devel_site, "no valid header at byte 2048")


def test_data_after_the_end(devel_site: DevelSite) -> None:
    devel_site.install("rocm-sdk-devel", devel_files(make_archive([INIT]) + b"more"))
    refused(devel_site, "there is data after its end")


@pytest.mark.parametrize("name", ["_devel.tar", "_devel.tar.xz", "_devel.tar.zst"])
@pytest.mark.parametrize("more", [0, 1])
def test_the_most_zeros_behind_the_end_and_one_more(make_site: Callable[..., DevelSite], name: str, more: int) -> None:
    site = make_site()
    site.install_sdk()
    data = make_archive([INIT])
    used = len(data.rstrip(b"\0"))
    used += -used % tarfile.BLOCKSIZE
    whole = data[:used] + bytes((1 << 24) + tarfile.BLOCKSIZE + more)  # the first block says that the archive ends
    site.install("rocm-sdk-devel", devel_files(packed(whole, name), name))
    if more:
        refused(site, f"{name} is damaged: more than 16 MB are behind its last member")
    else:
        site.command("init")


def packed(data: bytes, name: str) -> bytes:
    """Return an archive as its name says."""
    if name.endswith(".xz"):
        return lzma.compress(data, preset=0)
    return bytes(import_zstd().compress(data)) if name.endswith(".zst") else data


@pytest.mark.parametrize("more", [0, 1])
def test_the_most_files_and_directories_and_one_more(tmp_path: Path, more: int) -> None:
    """A header names 60 directories that are above it."""
    path, deep = tmp_path / "_devel.tar", "/".join(["d"] * 60)
    number, rest = divmod((1 << 18) - 2, 62)
    members = [INIT, *(member(f"{TREE}/{each}/{deep}/x") for each in range(number))]
    members += [member(f"{TREE}/rest{each}") for each in range(rest + more)]
    path.write_bytes(make_archive(members))
    with Archive(str(path)) as archive:
        if more:
            with pytest.raises(BadArchiveError, match="beyond the 262,144 files and directories that a tree may have"):
                list(archive.members())
        else:
            assert len(list(archive.members())) == (1 << 18) - 1  # the tree itself comes with it


@pytest.mark.parametrize("data", [b"", b"\0" * 10240, gzip.compress(b"tar", mtime=0), b"PK\3\4" + b"x" * 2000])
def test_no_archive_at_all(devel_site: DevelSite, data: bytes) -> None:
    devel_site.install("rocm-sdk-devel", devel_files(data))
    refused(devel_site, "_devel.tar")


def test_no_tree_in_it(devel_site: DevelSite) -> None:
    devel_site.install_devel([member(f"{TREE}/lib/a")])
    refused(devel_site, f"no {TREE}/__init__.py")


def test_a_link_into_a_package_must_lead_to_a_regular_file(devel_site: DevelSite) -> None:
    """A FIFO there would hang whoever reads the tree; it is never given a second name."""
    os.mkfifo(devel_site.core / "fifo")
    devel_site.install_devel([INIT, link(f"{TREE}/f", "../_rocm_sdk_core/fifo")])
    devel_site.command("init")
    assert (devel_site.core / "fifo").stat().st_nlink == 1


@pytest.mark.always
def test_whatever_is_in_the_headers(tmp_path: Path) -> None:
    """Bytes of headers replaced, their checksums made right again: read or refused, nothing else."""
    whole = make_archive([entry for entry in sample_members() if len(entry[1]) < 10_000])
    chance = random.Random(3)
    outcomes = set()
    for _ in range(600):
        damaged = bytearray(whole)
        start = chance.randrange(len(whole) // 512) * 512
        damaged[start + chance.randrange(512)] = chance.choice([0, 0x80, 0xFF, *b"/.07xgLKS", chance.randrange(256)])
        header = bytes(damaged[start : start + 148]) + b" " * 8 + bytes(damaged[start + 156 : start + 512])
        damaged[start + 148 : start + 156] = b"%06o\0 " % sum(header)
        path = tmp_path / "_devel.tar"
        path.write_bytes(damaged)
        try:
            with Archive(str(path)) as archive:
                for entry in archive.members():
                    assert sum(map(len, archive.data_of(entry))) == entry.size
            outcomes.add("read")
        except BadArchiveError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
