"""Bundles are compressed several at once: each is as it is alone, and what is wrong with one ends all."""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from pathlib import Path

import pytest

from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.errors import RewriteError
from rocm_sdk_build.base.pieces import Piece
from rocm_sdk_build.code.bundles import HEADERS
from rocm_sdk_build.code.new_bundles import NewBundle, Packing, build_compressed
from rocm_sdk_build.code.scratch import Scratch

ZLIB, ZSTD = 0, 1
RANDOM = os.urandom(1 << 20)
PLAIN = (b"", b"a", RANDOM * 3, bytes(5_000_000), RANDOM[:70_000], b"abc" * 100_000, RANDOM + bytes(1 << 20))


def plain_bundle(path: Path, plain: bytes) -> NewBundle:
    path.write_bytes(plain)
    descriptor = os.open(path, os.O_RDONLY)
    return NewBundle((Piece(0, descriptor, 0, len(plain)),), len(plain), len(plain))


def bytes_of(made: NewBundle) -> bytes:
    (piece,) = made.pieces
    return os.pread(piece.descriptor, piece.size, piece.offset)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [ZLIB, ZSTD])
def test_several_at_once(tmp_path: Path, version: int, method: int) -> None:
    bundles = [plain_bundle(tmp_path / str(number), plain) for number, plain in enumerate(PLAIN)]
    wanted = [Packing(bundle, version, method) for bundle in bundles]
    with Scratch(str(tmp_path)) as scratch:
        made = [bytes_of(each) for each in build_compressed(wanted, "x", scratch)]
        alone = [bytes_of(each) for one in wanted for each in build_compressed([one], "x", scratch)]
        assert build_compressed([], "x", scratch) == []
    assert made == alone
    layout = HEADERS[version]
    unpack = zlib.decompress if method == ZLIB else import_zstd().decompress
    for plain, packed in zip(PLAIN, made, strict=True):
        magic, told, used, *sizes, digest = layout.unpack_from(packed)
        assert (magic, told, used, digest) == (b"CCOB", version, method, hashlib.md5(plain).digest()[:8])
        assert sizes == [len(plain)] if version == 1 else sizes == [len(packed), len(plain)]
        assert unpack(packed[layout.size :]) == plain


def test_one_that_becomes_shorter_ends_all(tmp_path: Path) -> None:
    """The others are 200 GB of zero bytes, which would take minutes."""
    short = NewBundle((Piece(0, plain_bundle(tmp_path / "short", b"abc").pieces[0].descriptor, 0, 10),), 10, 10)
    endless = plain_bundle(tmp_path / "endless", b"")
    os.truncate(tmp_path / "endless", 200 << 30)
    endless = NewBundle((endless.pieces[0]._replace(size=200 << 30),), 200 << 30, 200 << 30)
    before = threading.active_count()
    with Scratch(str(tmp_path)) as scratch, pytest.raises(RewriteError, match="it ends at byte 3"):
        build_compressed([Packing(short, 3, ZSTD), *[Packing(endless, 3, ZSTD)] * 5], "x", scratch)
    assert threading.active_count() == before
