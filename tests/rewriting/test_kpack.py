"""kpack archives with fewer targets, and msgpack."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_pack import unpack
from sample_device_code import FLAGS, code_object, kpack, message

from rocm_sdk import RewriteError, device_code
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.code.kpack import pack, read_archive
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

zstd = import_zstd()

KERNELS = {
    f"lib/libx.so.1#{number}": {
        target: code_object(FLAGS[target], size=1000 + 100 * number)
        for target in ("gfx1030", "gfx90a:xnack-", "gfx942")
    }
    for number in range(3)
}


def zstd_kpack() -> bytes:
    """Return the same archive with a zstd frame for each kernel."""
    plain = kpack(KERNELS)
    (start,) = struct.unpack_from("<Q", plain, 8)
    contents = unpack(plain[start:])
    assert isinstance(contents, dict)
    images = [image for targets in KERNELS.values() for image in targets.values()]
    frames = [zstd.compress(image) for image in images]
    body = struct.pack("<I", len(frames)) + b"".join(struct.pack("<I", len(each)) + each for each in frames)
    del contents["blobs"]
    contents |= {"compression_scheme": "zstd-per-kernel", "zstd_offset": 64, "zstd_size": len(body)}
    return b"KPAK" + struct.pack("<IQ", 1, 64 + len(body)) + bytes(48) + body + message(contents)


@pytest.mark.parametrize("content", [kpack(KERNELS), zstd_kpack()], ids=["none", "zstd-per-kernel"])
def test_fewer_targets(tmp_path: Path, content: bytes) -> None:
    path, output = tmp_path / "x_gfx9.kpack", tmp_path / "new.kpack"
    path.write_bytes(content)
    made = rewrite_file(str(path), str(output), NewCode(("gfx90a", "gfx1030")))
    assert (made.kept, made.dropped) == (("gfx90a:xnack-", "gfx1030"), ("gfx942",))
    assert made.size < made.size_before - 3000 or content is not kpack(KERNELS)
    assert {each.target: each.image_count for each in device_code(output).targets} == {"gfx1030": 3, "gfx90a:xnack-": 3}
    with output.open("rb") as file:
        archive = read_archive(file.fileno(), str(output))
        assert archive.value("gfx_arches") == []
        found = set()
        for kernel in archive.kernels():
            start, size = archive.blobs.offsets[kernel.ordinal], archive.blobs.sizes[kernel.ordinal]
            data = output.read_bytes()[start : start + size]
            image = KERNELS[kernel.key][kernel.target]
            assert (zstd.decompress(data) if b"zstd" in content[-400:] else data) == image
            found.add((kernel.key, kernel.target))
        assert found == {(key, target) for key in KERNELS for target in ("gfx1030", "gfx90a:xnack-")}


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.kpack"
    path.write_bytes(kpack(KERNELS))
    with pytest.raises(RewriteError, match="no code that gfx1200 runs"):
        rewrite_file(str(path), None, NewCode(("gfx1200",)))
    with pytest.raises(RewriteError, match="not be changed otherwise"):
        rewrite_file(str(path), None, NewCode(compressed=True))
    for damage in (
        {"offset": 0, "size": 9},
        {"offset": 64, "size": 1 << 40},
        {"offset": 64, "size": -1},
        {"offset": "x"},
        7,
    ):
        contents = {"toc": {"k#0": {"gfx1030": {"type": "hsaco", "ordinal": 0, "original_size": 1}}}, "blobs": [damage]}
        path.write_bytes(b"KPAK" + struct.pack("<IQ", 1, 64) + bytes(48) + pack(contents))
        with pytest.raises(RewriteError, match="its table of contents is damaged"):
            rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1030",)))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("arches", [["gfx1030", ["gfx942"], {}, 7, None], {"gfx1030": 1}, "gfx1030", None])
def test_odd_lists_of_targets(tmp_path: Path, arches: object) -> None:
    path, output = tmp_path / "x.kpack", tmp_path / "new.kpack"
    contents = {"toc": {"k#0": {"gfx1030": {"ordinal": 0}}}, "blobs": [{"offset": 64, "size": 1}], "gfx_arches": arches}
    path.write_bytes(b"KPAK" + struct.pack("<IQ", 1, 65) + bytes(49) + pack(contents))
    rewrite_file(str(path), str(output), NewCode(("gfx1030",)))
    with output.open("rb") as file:
        assert read_archive(file.fileno(), str(output)).value("gfx_arches") == ["gfx1030"]


def test_a_target_with_a_nul(tmp_path: Path) -> None:
    path = tmp_path / "x.kpack"
    contents = {"toc": {"k#0": {"gfx\0": {"ordinal": 0}}}, "blobs": [{"offset": 64, "size": 1}]}
    path.write_bytes(b"KPAK" + struct.pack("<IQ", 1, 65) + bytes(49) + pack(contents))
    with pytest.raises(RewriteError, match="a key is not a text, or has a NUL in it"):
        rewrite_file(str(path), None, NewCode(("gfx1030",)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=9), inner, max_size=20),
    max_leaves=20,
)


@pytest.mark.slow
@given(VALUES)
def test_what_was_packed_is_unpacked(value: object) -> None:
    assert unpack(pack(value)) == value
