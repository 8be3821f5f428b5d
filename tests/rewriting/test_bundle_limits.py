"""The reader of bundles trusts nothing that the extension has told: the file may be another by now."""

import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_device_code import BUNDLE_MAGIC, bundle, compressed, objects

from rocm_sdk import RewriteError, device_code
from rocm_sdk_build.code import bundles
from rocm_sdk_build.code.bundles import Bundle, read_bundle
from rocm_sdk_build.code.scratch import Scratch

PLAIN = bundle(objects("gfx1030", "gfx942"))


def header(*entries: tuple[int, int, bytes]) -> bytes:
    """Return the header of a bundle from offset, size and name of each entry."""
    rows = (struct.pack("<QQQ", offset, size, len(name)) + name for offset, size, name in entries)
    return BUNDLE_MAGIC + struct.pack("<Q", len(entries)) + b"".join(rows)


def read(tmp_path: Path, content: bytes, found_in: bytes = PLAIN, **changes: int) -> Bundle:
    """Take `content` apart after the extension has looked at another file."""
    path = tmp_path / "x.co"
    path.write_bytes(found_in)
    (found,) = device_code(path).bundles
    path.write_bytes(content)
    facts = {name: getattr(found, name) for name in ("container", "offset", "size", "plain_size", "version", "images")}
    told: Any = SimpleNamespace(**{**facts, "size": len(content), **changes})
    with path.open("rb") as file, Scratch(str(tmp_path)) as scratch:
        return read_bundle(file.fileno(), told, str(path), scratch)


def both(content: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Return a bundle and the file that the bundle takes the place of: as it is, and compressed."""
    return (content, PLAIN), (compressed(content, 3), compressed(PLAIN, 3))


@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "compressed"])
def test_limits_of_a_header(tmp_path: Path, is_compressed: bool) -> None:
    def take(content: bytes) -> Bundle:
        file, found_in = both(content)[is_compressed]
        changes = {"plain_size": len(content)} if is_compressed else {}
        return read(tmp_path, file, found_in, **changes)

    assert len(take(header(*[(0, 0, b"x")] * 4096)).entries) == 4096
    with pytest.raises(RewriteError, match="the data at byte 0 is not a bundle"):
        take(header(*[(0, 0, b"x")] * 4097))
    with pytest.raises(RewriteError, match="the data at byte 0 is not a bundle"):
        take(PLAIN.replace(b"CLANG", b"clang"))
    assert take(header((0, 0, b"x" * 4096))).entries[0].name == "x" * 4096
    with pytest.raises(RewriteError, match="an entry of the bundle at byte 0 lies outside it"):
        take(header((0, 0, b"x" * 4097)))
    whole = header((64, 36, b"12345678"))
    assert len(whole) == 64
    assert [each.size for each in take(whole + bytes(36)).entries] == [36]
    for cut in (whole + bytes(35), header((0, 0, b"12345678"))[:-1]):
        with pytest.raises(RewriteError, match="an entry of the bundle at byte 0 lies outside it"):
            take(cut)
    with pytest.raises(RewriteError, match="the bundle at byte 0 ends within its header"):
        take(whole[:55])
    with pytest.raises(RewriteError, match="entries of the bundle at byte 0 overlap"):
        take(header((63, 10, b"12345678")) + bytes(36))


def test_the_largest_claim(tmp_path: Path) -> None:
    packed = compressed(PLAIN, 3)
    with pytest.raises(RewriteError, match="claims 17179869185 bytes, more than any has"):
        read(tmp_path, packed, packed, plain_size=(16 << 30) + 1)
    with pytest.raises(RewriteError) as caught:
        read(tmp_path, packed, packed, plain_size=16 << 30)
    assert "more than any has" not in str(caught.value)


@pytest.mark.slow
def test_what_goes_on_behind_its_size_is_not_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kB may become any number of GB."""
    decompressed, taken = bundles.decompressed, 0

    def counted(chunks: Iterator[bytes], method: int, path: str) -> Iterator[bytes]:
        nonlocal taken
        for piece in decompressed(chunks, method, path):
            taken += len(piece)
            yield piece

    monkeypatch.setattr(bundles, "decompressed", counted)
    for start in (PLAIN, bundle(objects("gfx1030", size=3 << 20))):
        taken = 0
        packed = compressed(start + bytes(1 << 27), 3)
        with pytest.raises(RewriteError, match="holds something else than its header says"):
            read(tmp_path, packed, packed, plain_size=len(start))
        assert len(start) < taken < len(start) + (1 << 24)
