"""Offload bundles, compressed and not. Judge for the format: clang-offload-bundler."""

import os
import random
import struct
import subprocess
from pathlib import Path

import pytest
from sample_device_code import BUNDLE_MAGIC, CLANG, HOST, bundle, code_object, compressed, objects

from rocm_sdk import BadLibraryError, DeviceCode, device_code

ENTRIES = objects("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-")


def read(path: Path, content: bytes) -> DeviceCode:
    path.write_bytes(content)
    return device_code(path)


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(BadLibraryError) as raised:
        device_code(path)
    assert raised.value.code == "E-LIB-006"
    assert str(path) in raised.value.message
    return raised.value.message


def test_what_the_bundler_makes(tmp_path: Path) -> None:
    tool = subprocess.check_output([CLANG, "--print-prog-name=clang-offload-bundler"], text=True).strip()
    files = [tmp_path / f"{i}.o" for i in range(len(ENTRIES) + 1)]
    for file, content in zip(files, [b"", *ENTRIES.values()], strict=True):
        file.write_bytes(content)
    path = tmp_path / "bundle.co"
    targets = ",".join(["host-x86_64-unknown-linux-gnu", *ENTRIES])
    command = [tool, "-type=o", "-bundle-align=4096", f"-targets={targets}", f"-outputs={path}"]
    subprocess.run([*command, f"-inputs={','.join(map(str, files))}"], check=True)
    code = device_code(path)
    (found,) = code.bundles
    assert (code.kind, found.container, found.size) == ("offload bundle", "bundle", path.stat().st_size)
    content = path.read_bytes()
    assert {each.id: content[each.offset : each.offset + each.size] for each in found.images} == ENTRIES
    assert [each.target for each in found.images] == ["gfx1030", "gfx90a:xnack+", "gfx90a:xnack-"]
    assert [each.object_target for each in found.images] == [each.target for each in found.images]


@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "gfx90a:xnack-"),
        ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-"),
        ("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:xnack-", "gfx9-4-generic:xnack-"),
        ("hipv4-amdgcn-amd-amdhsa-unknown-gfx950", "gfx950"),
        ("hip-amdgcn-amd-amdhsa-gfx900", "gfx900"),
        ("hip-amdgcn-amd-amdhsa-gfx9-4-generic", "gfx9-4-generic"),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"),
        ("openmp-amdgcn-amd-amdhsa--gfx906", "gfx906"),
        ("hipv4-amdgcn-amd-amdhsa--gfx9999:xnack?", "gfx9999:xnack?"),
        ("hipv4-amdgpu9.42-amd-amdhsa--", "gfx90a"),  # then the object tells
        ("hipv4-amdgcn-amd-amdhsa--gfx90a\0\0", "gfx90a"),  # old files fill up with NUL
    ],
)
def test_entry_ids(tmp_path: Path, entry: str, target: str) -> None:
    (image,) = read(tmp_path / "x.co", bundle({entry: code_object(0x53F)})).bundles[0].images
    assert (image.target, image.object_target) == (target, "gfx90a")


@pytest.mark.parametrize(
    "entry", [HOST, "host-x86_64-unknown-linux", "hip-nvptx64-nvidia-cuda--sm_70", "", "hipv4", "-"]
)
def test_entries_for_others(tmp_path: Path, entry: str) -> None:
    assert read(tmp_path / "x.co", bundle({}, host=entry)).targets == ()


def test_formats(tmp_path: Path) -> None:
    kinds = {
        "code object": code_object(0x36),
        "bitcode": b"BC\xc0\xde1",
        "SPIR-V": b"\x03\x02\x23\x07",
        "empty": b"",
        "unknown": b"x",
    }
    entries = {f"hip-amdgcn-amd-amdhsa--gfx103{i}": content for i, content in enumerate(kinds.values())}
    images = read(tmp_path / "x.co", bundle(entries)).bundles[0].images
    assert [each.format for each in images] == list(kinds)


def test_a_long_header(tmp_path: Path) -> None:
    """More entries than the first read holds."""
    numbers = random.Random(1)  # many also after compression
    entries = {f"hipv4-amdgcn-amd-amdhsa--gfx{numbers.getrandbits(500):x}": code_object(0x36) for _ in range(1500)}
    plain = bundle(entries, align=8)
    for content in (plain, compressed(plain, 3), compressed(plain, 3, "zlib")):
        code = read(tmp_path / "x.co", content)
        assert [each.id for each in code.bundles[0].images] == list(entries)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", ["zlib", "zstd"])
def test_compressed(tmp_path: Path, version: int, method: str) -> None:
    plain = bundle(objects("gfx1030", "gfx90a:xnack+", size=300_000))
    content = compressed(plain, version, method)
    (found,) = read(tmp_path / "x.co", content).bundles
    assert (found.container, found.version, found.compression) == ("compressed bundle", version, method)
    assert (found.size, found.plain_size) == (len(content), len(plain))
    assert [(each.target, each.size, each.format) for each in found.images] == [
        ("gfx1030", 300_000, "unread"),
        ("gfx90a:xnack+", 300_000, "unread"),
    ]


def test_only_the_head_is_decompressed(tmp_path: Path) -> None:
    """The bytes behind the first block may be anything."""
    content = compressed(bundle(objects("gfx1030", size=900_000)), 3)
    broken = content[:400_000] + bytes(len(content) - 400_000)
    assert read(tmp_path / "x.co", broken).targets == read(tmp_path / "x.co", content).targets


def test_several_in_a_row(tmp_path: Path) -> None:
    """Compressed data may contain the first bytes of other containers; nothing is looked for there."""
    inner = bundle({"hipv4-amdgcn-amd-amdhsa--gfx1030": code_object(0x36) + b"CCOB" + BUNDLE_MAGIC})
    parts = [compressed(inner, 2), bundle(ENTRIES), compressed(inner, 3), code_object(0x4A, size=64)]
    content = b"".join(part + bytes(-len(part) % 4096) for part in parts)
    code = read(tmp_path / "x.co", content)
    assert [each.container for each in code.bundles] == ["compressed bundle", "bundle", "compressed bundle", "none"]
    assert [each.size for each in code.bundles] == [len(part) for part in parts]
    assert [(each.target, each.image_count) for each in code.targets] == [
        ("gfx90a:xnack+", 1),
        ("gfx90a:xnack-", 1),
        ("gfx1030", 3),
        ("gfx1151", 1),
    ]


def entry(offset: int, size: int, length: int, name: bytes = b"hip-amdgcn-amd-amdhsa--gfx1030") -> bytes:
    return BUNDLE_MAGIC + struct.pack("<QQQQ", 1, offset, size, length) + name + bytes(100)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (BUNDLE_MAGIC, "ends within its header"),
        (BUNDLE_MAGIC + struct.pack("<Q", 2**64 - 1), "more entries"),
        (BUNDLE_MAGIC + struct.pack("<Q", 4096), "ends within its header"),
        (entry(100, 10, 2**64 - 1), "longer than any"),
        (entry(100, 10, 4096), "ends within its header"),
        (entry(100, 2**64 - 1, 30), "outside the bundle"),
        (entry(2**64 - 1, 2, 30), "outside the bundle"),
        (entry(2**63, 2**63, 30), "outside the bundle"),
        (entry(0, 10, 30), "outside the bundle"),
        (entry(100, 1000, 30), "outside the bundle"),
        (b"CCOB", "version that is not known"),
        (b"CCOB\4\0\1\0" + bytes(40), "version that is not known"),
        (b"CCOB\3\0\1\0" + bytes(40), "ends too early"),
        (b"CCOB\2\0\1\0" + b"\xff" * 40, "ends too early"),
        (b"CCOB\3\0\1\0" + struct.pack("<QQ", 32, 100) + bytes(40), "ends too early"),
        (b"CCOB\2\0\1\0" + struct.pack("<II", 24, 100) + bytes(40), "ends too early"),
        (b"CCOB\1\0\1\0" + struct.pack("<I", 100) + bytes(8), "ends too early"),
        (b"CCOB\2\0\2\0" + struct.pack("<II", 64, 100) + bytes(48), "method that is not known"),
        (b"CCOB\2\0\1\0" + struct.pack("<II", 64, 100) + b"x" * 48, "compressed data is damaged"),
        (b"CCOB\2\0\0\0" + struct.pack("<II", 64, 100) + b"x" * 48, "compressed data is damaged"),
        (compressed(b"no bundle" * 100, 3), "no bundle"),
        (compressed(BUNDLE_MAGIC, 3), "ends within its header"),
        (compressed(BUNDLE_MAGIC + struct.pack("<Q", 4096) + b"\0" * 10_000_000, 3), "outside the bundle|no code"),
        (bundle({}) + b"garbage", "neither a bundle nor a code object"),
        (code_object(0x36)[:64][:-24] + b"\xff" * 24, "not there to its end"),
    ],
)
def test_damaged(tmp_path: Path, content: bytes, what: str) -> None:
    if "|" in what:  # entries without name, size and offset: nothing in it is code for a GPU
        assert read(tmp_path / "x.co", content).targets == ()
    else:
        assert what in refusal(tmp_path / "x.co", content)


@pytest.mark.parametrize(
    "content",
    [bundle(ENTRIES, align=64), compressed(bundle(ENTRIES, align=64), 3), compressed(bundle(ENTRIES), 2, "zlib")],
)
def test_cut_anywhere(tmp_path: Path, content: bytes) -> None:
    for size in range(0, len(content), 3):
        refusal(tmp_path / "x.co", content[:size])


def test_a_bomb(tmp_path: Path) -> None:
    """A few KB that claim 100 GB, and a header that goes on for ever."""
    plain = BUNDLE_MAGIC + struct.pack("<Q", 4096) + (struct.pack("<QQQ", 0, 0, 4096) + b"-" * 4096) * 3000
    content = bytearray(compressed(plain, 3))
    content[16:24] = struct.pack("<Q", 100 * 10**9)
    assert len(content) < 50_000
    assert "ends within its header" in refusal(tmp_path / "x.co", bytes(content))


def test_a_sparse_file(tmp_path: Path) -> None:
    """Zero bytes behind a bundle are not read to their end."""
    path = tmp_path / "x.co"
    path.write_bytes(bundle(ENTRIES))
    os.truncate(path, 1 << 40)
    with pytest.raises(BadLibraryError, match="zero bytes"):
        device_code(path)


def test_many_names(tmp_path: Path) -> None:
    """Many small bundles whose entries have long names are refused before they take memory."""
    plain = BUNDLE_MAGIC + struct.pack("<Q", 200) + (struct.pack("<QQQ", 0, 0, 4096) + b"-" * 4096) * 200
    part = compressed(plain, 3)
    assert "more entries" in refusal(tmp_path / "x.co", part * 80)
