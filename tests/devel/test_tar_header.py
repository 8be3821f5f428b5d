"""Headers of tar archives are what tarfile makes of them, damaged ones too."""

import io
import random
import tarfile
from pathlib import Path

import pytest

from rocm_sdk.devel.archive import Archive, Header

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
VALUES = (b"\0", b" ", b"0", b"7", b"8", b"/", b"\x80", b"\xff")


def blocks(form: int) -> list[bytes]:
    """Return headers that a program writes, names in Latin and other letters, short, long and very long."""
    found = []
    for name in ("a", "lib/libx.so", "d" * 100, "p" * 90 + "/" + "n" * 60, "ä/é", "x" * 300):
        for kind in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE):
            member = tarfile.TarInfo(name)
            member.type, member.size, member.mtime, member.mode = kind, 0o1234567, 1700000000, 0o755
            member.uid, member.uname, member.linkname = 1000, "user", "to" if kind == tarfile.SYMTYPE else ""
            data = member.tobuf(form if len(name) < 250 or form != tarfile.USTAR_FORMAT else tarfile.GNU_FORMAT)
            found += [data[at : at + 512] for at in range(0, len(data), 512)]
    return found


def taken(kind: type[tarfile.TarInfo], block: bytes) -> object:
    """Return the fields of a header that are looked at, or the class of the exception."""
    try:
        header = kind.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        return type(error)
    return header.name, header.mode, header.size, header.mtime, header.type, header.linkname, header.chksum


def with_sum(block: bytes) -> bytes:
    return block[:148] + b"%06o\0 " % (sum(block) - sum(block[148:156]) + 256) + block[156:]


@pytest.mark.parametrize("form", FORMATS)
def test_written_headers(form: int) -> None:
    for block in blocks(form):
        assert taken(Header, block) == taken(tarfile.TarInfo, block)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_damaged_headers(form: int) -> None:
    chosen = random.Random(form)
    written = blocks(form)
    for _ in range(20_000):
        block = bytearray(chosen.choice(written))
        for _ in range(chosen.randint(1, 3)):
            place = chosen.randrange(512) if chosen.random() < 0.5 else chosen.randrange(100, 160)
            block[place : place + 1] = chosen.choice(VALUES)
        for damaged in (bytes(block), with_sum(bytes(block))):
            assert taken(Header, damaged) == taken(tarfile.TarInfo, damaged)


@pytest.mark.parametrize("size", [0, 1, 100, 511, 513])
def test_other_sizes(size: int) -> None:
    block = (blocks(tarfile.GNU_FORMAT)[0] * 2)[:size]
    assert taken(Header, block) == taken(tarfile.TarInfo, block)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shared", [{}, {"mtime": "7", "comment": "x"}], ids=["alone", "shared"])
def test_members(tmp_path: Path, form: int, shared: dict[str, str]) -> None:
    """Long names belong to the member behind them, and what a pax header says of all members to each."""
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=form, pax_headers=shared) as archive:
        for name in (
            "a",
            "d/" + "p" * 90 + "/" + "n" * 60,
            "b",
            *(() if form == tarfile.USTAR_FORMAT else ("x" * 300, "c")),
        ):
            member = tarfile.TarInfo(name)
            member.size = 700
            archive.addfile(member, io.BytesIO(bytes(700)))
    with tarfile.open(path) as archive, Archive(str(path)) as ours:
        expected = [(member.name, member.size, member.mtime) for member in archive]
        assert [(member.name, member.size, member.mtime) for member in ours.headers()] == expected
    assert len(expected) > 2
