"""Kernels and their metadata. Judges: llvm-readelf, which prints the notes, and a reader of msgpack in Python."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from compiled_kernels import compiled_kernel
from hypothesis import given
from hypothesis import strategies as st
from message_pack import unpack
from sample_device_code import (
    bundle,
    compressed,
    described_object,
    kpack,
    library,
    message,
    offload_binary,
)

from rocm_sdk import BadLibraryError
from rocm_sdk.cli.code_kernels import Kernel, kernels_in

ID = "hipv4-amdgcn-amd-amdhsa--"


@pytest.mark.parametrize("version", [3, 4])
def test_what_the_notes_say(tmp_path: Path, version: int) -> None:
    code = compiled_kernel(tmp_path, "gfx90a", version)
    (tmp_path / "k.co").write_bytes(code)
    told = subprocess.check_output(["llvm-readelf", "--notes", str(tmp_path / "k.co")], text=True)
    (kernel,) = kernels_in(str(tmp_path / "k.co"), str(tmp_path))
    assert kernel.name == "scale"
    for key in (".vgpr_count", ".sgpr_count", ".wavefront_size", ".kernarg_segment_size"):
        match = re.search(rf"{re.escape(key)}: +(\d+)", told)
        assert match is not None
        assert kernel.metadata[key] == int(match[1])
    arguments = kernel.metadata[".args"]
    assert isinstance(arguments, list)
    assert [each[".name"] for each in arguments[:2]] == ["Y", "N"]


def test_version_2(tmp_path: Path) -> None:
    """The metadata of version 2 is YAML, in which Y is a boolean for some readers; here a name stays as it is."""
    (tmp_path / "k.co").write_bytes(compiled_kernel(tmp_path, "gfx900", 2))
    (kernel,) = kernels_in(str(tmp_path / "k.co"), str(tmp_path))
    assert (kernel.target, kernel.name, kernel.metadata) == ("gfx900:xnack+", "scale", {})


@pytest.mark.parametrize("packed", [False, True])
def test_the_command(tmp_path: Path, packed: bool) -> None:
    code = bundle({ID + name: compiled_kernel(tmp_path, name) for name in ("gfx1030", "gfx90a")})
    path = library(tmp_path / "libx.so", [compressed(code, 2) if packed else code])
    command = [sys.executable, "-m", "rocm_sdk", "code", str(path), "--kernels"]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert lines[::2] == [f"{path}   gfx1030   1 kernel", f"{path}   gfx90a   1 kernel"]
    facts = r"  scale   \d+ VGPRs, \d+ SGPRs, 0 bytes of LDS, 0 bytes of scratch"
    assert all(re.fullmatch(facts, line) for line in lines[1::2])
    (file,) = json.loads(subprocess.check_output([*command, "--json"]))["files"]
    assert [each["target"] for each in file["kernels"]] == ["gfx1030", "gfx90a"]


# Each kind of value as msgpack, and as it is printed.
VALUES = {
    "nil": (b"\xc0", None),
    "true": (b"\xc3", True),
    "false": (b"\xc2", False),
    "small": (b"\x7f", 127),
    "small negative": (b"\xe0", -32),
    "unsigned 8": (b"\xcc\xff", 255),
    "unsigned 16": (b"\xcd\xff\xfe", 65534),
    "unsigned 32": (b"\xce\xff\xff\xff\xff", 4294967295),
    "unsigned 64": (b"\xcf" + b"\xff" * 8, 18446744073709551615),
    "signed 8": (b"\xd0\x80", -128),
    "signed 16": (b"\xd1\x80\x00", -32768),
    "signed 32": (b"\xd2\x80\x00\x00\x01", -2147483647),
    "signed 64": (b"\xd3\x80" + bytes(7), -9223372036854775808),
    "signed, not negative": (b"\xd1\x7f\xff", 32767),
    "float": (b"\xca\x3f\xc0\x00\x00", 1.5),
    "double": (b"\xcb\xbf\xb9\x99\x99\x99\x99\x99\x9a", -0.1),
    "text": (b"\xa2ab", "ab"),
    "text that is no UTF-8": (b"\xa3a\xff\x62", "a\ufffdb"),
    "text of 8": (b"\xd9\x01a", "a"),
    "text of 16": (b"\xda\x00\x03\xe2\x82\xac", "\u20ac"),
    "text of 32": (b"\xdb\x00\x00\x00\x00", ""),
    "bytes of 8": (b"\xc4\x02\x00\xff", "b'\\x00\\xff'"),
    "bytes of 16": (b"\xc5\x00\x01a", "b'a'"),
    "bytes of 32": (b"\xc6\x00\x00\x00\x00", "b''"),
    "list": (b"\x93\x01\x91\xc0\x90", [1, [None], []]),
    "list of 16": (b"\xdc\x00\x01\x01", [1]),
    "list of 32": (b"\xdd\x00\x00\x00\x01\x02", [2]),
    "map": (b"\x82\xa1a\x80\xa1b\x81\xff\xc3", {"a": {}, "b": {"-1": True}}),
    "map of 16": (b"\xde\x00\x01\x01\xa0", {"1": ""}),
    "map of 32": (b"\xdf\x00\x00\x00\x01\xc3\x01", {"true": 1}),
    "key that is there twice": (b"\x83\xa1a\x01\xa1b\x02\xa1a\x03", {"a": 3, "b": 2}),
}


def test_values_of_each_kind(tmp_path: Path) -> None:
    """All metadata is printed, in its order, whatever a compiler writes."""
    pairs = b"".join(message(name) + data for name, (data, _) in VALUES.items())
    kernel = b"\xde" + struct.pack(">H", len(VALUES) + 1) + pairs + message(".name") + b"\xa1\xff"
    other = message({".name": "second", "x": 1})
    (tmp_path / "k.co").write_bytes(
        described_object(b"\x82\xa1a\x01\xaeamdhsa.kernels\x94" + kernel + b"\x01\x80" + other + b"behind")
    )
    command = [sys.executable, "-m", "rocm_sdk", "code", "k.co", "--kernels", "--json"]
    kernels = [
        {
            "target": "gfx1030",
            "bundle": 0,
            "name": "\ufffd",
            "metadata": {name: each for name, (_, each) in VALUES.items()},
        },
        {"target": "gfx1030", "bundle": 0, "name": "second", "metadata": {".name": "second", "x": 1}},
    ]
    kernels[0]["metadata"] |= {".name": "\ufffd"}  # type: ignore[operator]
    document = {"schema": 1, "files": [{"path": "k.co", "kernels": [{**each, "demangled": None} for each in kernels]}]}
    assert subprocess.check_output(command, cwd=tmp_path, text=True) == json.dumps(document, indent=2) + "\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            b"---\nKernels:\n  - Name:            scale\n    SymbolName: x\n  - Name:            'Y'\n...\n",
            ["scale", "Y"],
        ),
        (b'  - Name:"a b"\r\n - Name: c\n  - Name: \xff', ["a b", "\ufffd"]),
        (b"  - Name:", [""]),
        (b"  - Name", []),
    ],
)
def test_names_in_yaml(tmp_path: Path, text: bytes, names: list[str]) -> None:
    (tmp_path / "k.co").write_bytes(described_object(text, b"AMD", 10))
    assert [(each.name, each.metadata) for each in kernels_in(str(tmp_path / "k.co"), str(tmp_path))] == [
        (name, {}) for name in names
    ]


def test_notes_that_are_padded_to_eight_bytes_and_those_of_others(tmp_path: Path) -> None:
    metadata = message({"amdhsa.kernels": [{".name": "scale"}]})
    for data, found in (
        (described_object(metadata, align=8), ["scale"]),
        (described_object(metadata, b"AMD"), []),
        (described_object(metadata, kind=33), []),
        (described_object(message([1, 2])), []),
        (described_object(message({"amdhsa.kernels": 1, "amdhsa.version": [1, 1]})), []),
        (described_object(message({"amdhsa.kernels": [{".name": 1}, 2, {"name": "x"}]})), []),
    ):
        (tmp_path / "k.co").write_bytes(data)
        assert [each.name for each in kernels_in(str(tmp_path / "k.co"), str(tmp_path))] == found


def read(path: Path, data: bytes) -> list[Kernel]:
    path.write_bytes(data)
    return kernels_in(str(path), str(path.parent))


def test_damaged_metadata(tmp_path: Path) -> None:
    code = compiled_kernel(tmp_path, "gfx1030")
    at = code.index(b"amdhsa.kernels")
    for damage in (b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"):
        with pytest.raises(BadLibraryError, match=r"k\.co: .*the metadata of a code object is damaged"):
            read(tmp_path / "k.co", code[: at + 14] + damage + code[at + 14 + len(damage) :])


def test_damaged_notes(tmp_path: Path) -> None:
    code = bytearray(described_object(b"\x80"))
    for at, size in ((96, len(code)), (124, 2), (120, 1000)):
        changed = bytearray(code)
        changed[at] = size & 0xFF
        with pytest.raises(BadLibraryError, match=r"a note of a code object lies outside it|not there to its end"):
            read(tmp_path / "k.co", bundle({ID + "gfx1030": bytes(changed)}))


@pytest.mark.parametrize("size", [1 << 26, (1 << 26) + 1])
def test_the_longest_notes(tmp_path: Path, size: int) -> None:
    code = bytearray(described_object(b"", kind=33))
    code[96:104] = struct.pack("<Q", size)
    (tmp_path / "k.co").write_bytes(code)
    os.truncate(tmp_path / "k.co", 120 + size)
    if size == 1 << 26:
        assert kernels_in(str(tmp_path / "k.co"), str(tmp_path)) == []
        return
    with pytest.raises(BadLibraryError, match="a note of a code object lies outside it"):
        kernels_in(str(tmp_path / "k.co"), str(tmp_path))


@pytest.mark.parametrize(("depth", "is_read"), [(29, True), (30, False), (1000, False)])
def test_values_in_each_other(tmp_path: Path, depth: int, is_read: bool) -> None:
    """32 at most, with the three that a kernel lies in."""
    values = b"\x91" * depth + b"\xc0"
    data = described_object(b"\x81\xaeamdhsa.kernels\x91\x82\xa5.name\xa1k\xa1x" + values)
    if is_read:
        assert len(read(tmp_path / "k.co", data)) == 1
        return
    with pytest.raises(BadLibraryError, match="is damaged"):
        read(tmp_path / "k.co", data)


def as_python_reads(description: bytes) -> list[tuple[str, object]] | None:
    """Return the kernels that the reader in Python finds, or None if the description is damaged."""
    try:
        document = unpack(description)
    except ValueError:
        return None
    kernels = document.get("amdhsa.kernels") if isinstance(document, dict) else None
    found = kernels if isinstance(kernels, list) else []
    return [(each[".name"], each) for each in found if isinstance(each, dict) and isinstance(each.get(".name"), str)]


@cache
def place() -> Path:
    return Path(tempfile.mkdtemp()) / "k.co"


def assert_same(description: bytes) -> None:
    """Assert that the two readers answer the same; NaN is no equal of itself, but its text is."""
    try:
        found = [(each.name, each.metadata) for each in read(place(), described_object(description))]
    except BadLibraryError:
        assert as_python_reads(description) is None
    else:
        assert repr(found) == repr(as_python_reads(description))


KERNELS = b"\x81\xaeamdhsa.kernels\x92\x81\xa5.name\xa1k"


@pytest.mark.parametrize(
    "kernel",
    [
        *(
            b"\x82\xa5.name\xa1k" + key + b"\x01"
            for key in (b"\xc0", b"\x90", b"\x80", b"\xca" + bytes(4), b"\xc4\x00", b"\xc2")
        ),
        *(b"\x82\xa5.name" + first + b"\xa5.name" + last for first, last in ((b"\xa1k", b"\x01"), (b"\x01", b"\xa1k"))),
        b"\x82\xa5.name\xa1k\xa5.name\xa1l",
        b"\x81\xd9\x05.name\xa1k",
        b"\x81\xa6.name\x00\xa1k",
        b"\x81\xc4\x05.name\xa1k",
        b"\x81\xa5.name\xc4\x01k",
        b"\x90",
        b"\xc1",
        b"",
    ],
)
def test_kernels_that_no_compiler_describes(kernel: bytes) -> None:
    assert_same(KERNELS + kernel)
    assert_same(b"\x82\xaeamdhsa.kernels\x90" + KERNELS[1:] + kernel)


PARTS = st.sampled_from([data for data, _ in VALUES.values()]) | st.binary(min_size=1, max_size=9)


@given(st.lists(PARTS, max_size=20))
def test_the_reader_in_python_finds_the_same(parts: list[bytes]) -> None:
    assert_same(b"".join(parts))
    assert_same(KERNELS + b"\x82\xa5.name\xa1l" + b"".join(parts))
    assert_same(b"\x82" + b"".join(parts)[:40] + KERNELS[1:] + b"\xc0")


def test_compressed_bundles_of_each_size(tmp_path: Path) -> None:
    """The hash of a bundle needs its last block, too, which is padded."""
    code = described_object(message({"amdhsa.kernels": [{".name": "k"}]}))
    sizes = [*range(64), (1 << 16) - 800, 1 << 16]
    bundles = [compressed(bundle({ID + "gfx1030": code + bytes(size)}, align=8), 3, "zlib") for size in sizes]
    found = read(tmp_path / "x.co", b"".join(bundles))
    assert [(each.bundle, each.name) for each in found] == [(i, "k") for i in range(len(sizes))]


@pytest.mark.parametrize(("version", "method"), [(1, "zlib"), (2, "zstd"), (3, "zstd")])
def test_a_compressed_bundle_that_is_another(tmp_path: Path, version: int, method: str) -> None:
    """The hash finds what the compression does not."""
    code = bundle({ID + "gfx1030": described_object(message({"amdhsa.kernels": [{".name": "k"}]}))})
    data = bytearray(compressed(code, version, method))
    header = {1: 20, 2: 24, 3: 32}[version]
    assert len(read(tmp_path / "x.co", bytes(data))) == 1
    data[header - 1] ^= 1
    with pytest.raises(BadLibraryError, match=r"x\.co: .*holds something else than its header says"):
        read(tmp_path / "x.co", bytes(data))


def claiming(size: int) -> bytes:
    """Return a compressed bundle that says it has so many plain bytes."""
    data = bytearray(compressed(bundle({ID + "gfx1030": b""}), 3))
    data[16:24] = struct.pack("<Q", size)
    return bytes(data)


@pytest.mark.parametrize("size", [(64 << 20) + 1, (16 << 30) + 1, (1 << 64) - 1])
def test_a_bundle_that_claims_too_much(tmp_path: Path, size: int) -> None:
    with pytest.raises(BadLibraryError, match="claims more bytes than any has"):
        read(tmp_path / "x.co", claiming(size))
    with pytest.raises(BadLibraryError, match="holds something else than its header says"):
        read(tmp_path / "x.co", claiming(64 << 20))


def test_the_largest_claim(tmp_path: Path) -> None:
    """So large a bundle may have that many bytes by its own size."""
    data = bytearray(claiming((16 << 30) + 1))
    data[8:16] = struct.pack("<Q", 80 << 20)
    (tmp_path / "x.co").write_bytes(data)
    os.truncate(tmp_path / "x.co", 80 << 20)
    with pytest.raises(BadLibraryError, match="claims more bytes than any has"):
        kernels_in(str(tmp_path / "x.co"), str(tmp_path))


def shared(code: bytes, count: int) -> bytes:
    """Return a bundle whose entries have the same bytes."""
    ids = [f"{ID}gfx1030{i:04}".encode() for i in range(count)]
    start = 32 + sum(24 + len(each) for each in ids)
    rows = b"".join(struct.pack("<QQQ", start, len(code), len(each)) + each for each in ids)
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", count) + rows + code


@pytest.mark.parametrize(
    "description",
    [b"\x81\xaeamdhsa.kernels\xdd\x00\x0f\xff\xff" + b"\x90" * 0xFFFFF, b"\xc6\x01\x00\x00\x00" + bytes(1 << 24)],
    ids=["values", "bytes"],
)
def test_images_that_share_their_metadata(tmp_path: Path, description: bytes) -> None:
    """A small file would take any amount of time and memory."""
    plain = shared(described_object(description), 4096)
    with pytest.raises(BadLibraryError, match="describe more kernels than any file has"):
        read(tmp_path / "x.co", compressed(plain, 3) + bytes(len(plain) // 256))


def test_more_kernels_than_a_code_object_has(tmp_path: Path) -> None:
    kernel = b"\x81\xa5.name\xa0"
    for count in ((1 << 18), (1 << 18) + 1):
        data = described_object(b"\x81\xaeamdhsa.kernels\xdd" + struct.pack(">I", count) + kernel * count)
        if count <= 1 << 18:
            assert len(read(tmp_path / "x.co", data)) == count
            continue
        with pytest.raises(BadLibraryError, match="more kernels than any has"):
            read(tmp_path / "x.co", data)


def test_containers_whose_kernels_are_not_listed(tmp_path: Path) -> None:
    code = described_object(message({"amdhsa.kernels": [{".name": "k"}]}))
    for data in (
        offload_binary([("amdgcn-amd-amdhsa", "gfx1030", code)]),
        kpack({"lib/libx.so": {"gfx1030": code}}),
    ):
        with pytest.raises(BadLibraryError, match="kernels of offload binaries and kpack archives are not listed"):
            read(tmp_path / "x.co", data)


def test_what_python_reads_of_msgpack() -> None:
    """The reader that judges the other one."""
    assert unpack(b"\x01 and more") == 1
    assert unpack(b"\x81\x01\xa1a") == {1: "a"}
    assert unpack(b"\xa2\xffa") == "\ufffda"
    with pytest.raises(ValueError, match="a value of an unknown type, 0xd4"):
        unpack(b"\xd4\x01\x00")
    with pytest.raises(ValueError, match="32 deep"):
        unpack(b"\x91" * 1000)
