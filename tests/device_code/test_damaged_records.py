"""Limits of what is read of offload binaries, and of a note: the largest that is accepted, and one more."""

import struct
import subprocess
from pathlib import Path

import pytest
from sample_device_code import code_object, library, offload_binary

from rocm_sdk import BadLibraryError, device_code
from rocm_sdk.base.zstd import import_zstd

zstd = import_zstd()

MAGIC = b"\x10\xff\x10\xad"
ENTRIES = 40  # where they begin in version 3


def packed(body: bytes, missing: int = 0) -> bytes:
    """Return a record of version 3 with one entry.

    `body` has the uncompressed bytes from the entries on, and lacks its last `missing` bytes.
    """
    content = zstd.compress(body)
    fields = struct.pack("<IQQQQ", 3, ENTRIES + len(content), ENTRIES, 1, ENTRIES + len(body) + missing)
    return MAGIC + fields + content


def entry(table: int, count: int) -> bytes:
    return struct.pack("<HHIQQQQ", 1, 4, 0, table, count, 0, 0)


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(BadLibraryError) as caught:
        device_code(path)
    return caught.value.message


@pytest.mark.parametrize("at", [0, 8, ENTRIES - 1, ENTRIES + 40 + 24, ENTRIES + 40 + 25])
def test_strings_outside_what_is_compressed(tmp_path: Path, at: int) -> None:
    """The header lies before it, in the file."""
    path = tmp_path / "records"
    for body in (
        entry(at, 1) + bytes(24),
        entry(ENTRIES + 40, 1) + struct.pack("<QQQ", at, ENTRIES, 1),
        entry(ENTRIES + 40, 1) + struct.pack("<QQQ", ENTRIES, at, 1),
    ):
        assert "a record of an offload binary contradicts itself" in refusal(path, packed(body))


def test_a_string_behind_what_is_compressed(tmp_path: Path) -> None:
    """The record says that it goes on."""
    end = ENTRIES + 40 + 24
    for at in (end, end + 99):
        body = entry(ENTRIES + 40, 1) + struct.pack("<QQQ", at, ENTRIES, 1)
        assert "a record of an offload binary contradicts itself" in refusal(tmp_path / "records", packed(body, 100))


def test_the_number_of_strings(tmp_path: Path) -> None:
    path = tmp_path / "records"
    row = struct.pack("<QQQ", ENTRIES, ENTRIES, 1)
    path.write_bytes(packed(entry(ENTRIES + 40, 16) + row * 16))
    assert device_code(path).targets == ()
    message = refusal(path, packed(entry(ENTRIES + 40, 17) + row * 17))
    assert "a record of an offload binary contradicts itself" in message


def test_the_number_of_entries(tmp_path: Path) -> None:
    """Of all records, though none has too many."""
    path, most = tmp_path / "records", 1 << 18

    def records(count: int) -> bytes:
        size = 32 + count * 40
        return MAGIC + struct.pack("<IQQQ", 2, size, 32, count) + bytes(count * 40)

    path.write_bytes(records(4096) * (most // 4096))
    assert device_code(path).targets == ()
    assert "more entries" in refusal(path, records(4096) * (most // 4096) + records(1))
    assert "contradicts itself" in refusal(path, records(4097))


def test_the_number_of_members(tmp_path: Path) -> None:
    """Of a static archive, whatever they hold."""
    path = tmp_path / "libx.a"
    member = b"x/".ljust(48) + b"0".ljust(10) + b"`\n"
    path.write_bytes(b"!<arch>\n" + member * 1000)
    assert device_code(path).bundles == ()
    assert "more entries" in refusal(path, b"!<arch>\n" + member * ((1 << 18) + 1))


def test_where_an_image_may_lie(tmp_path: Path) -> None:
    path = tmp_path / "records"
    content = bytearray(offload_binary([("amdgcn-amd-amdhsa", "gfx942", code_object(0x54C, size=200))]))
    size = struct.unpack_from("<Q", content, 8)[0]
    offset = struct.unpack_from("<Q", content, 32 + 24)[0]
    assert (offset + 200, len(content) % 8) == (size, 0)
    path.write_bytes(content)
    assert [each.target for each in device_code(path).targets] == ["gfx942"]
    struct.pack_into("<Q", content, 32 + 32, 201)
    assert "a record of an offload binary contradicts itself" in refusal(path, bytes(content))


def test_the_length_of_a_note(tmp_path: Path) -> None:
    note, path = tmp_path / "note", tmp_path / "libx.so"
    for size in ((1 << 16), (1 << 16) + 1):
        text = b'{"x": "' + b"x" * (size - 9) + b'"}'
        note.write_bytes(struct.pack("<III", 9, size, 1) + b"rocm-sdk\0\0\0\0" + text)
        subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", path], input="int x;", text=True, check=True)
        subprocess.run(["objcopy", "--add-section", f".note.rocm-sdk={note}", path], check=True)
        if size == 1 << 16:
            assert device_code(path).targets == ()
        else:
            with pytest.raises(BadLibraryError, match="the note of what was done to the file is damaged"):
                device_code(path)


@pytest.mark.parametrize(("place", "value"), [(4, 1), (5, 2)], ids=["32 bits", "big-endian"])
def test_hosts_that_rocm_does_not_have(tmp_path: Path, place: int, value: int) -> None:
    """Hosts of other machines are not read: no table in them is where the tables of ROCm's hosts are."""
    path = tmp_path / "libx.so"
    subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", path], input="int x;", text=True, check=True)
    content = bytearray(path.read_bytes())
    content[place] = value
    content[40:48] = b"\xff" * 8  # where the sections are
    path.write_bytes(content)
    assert device_code(path).bundles == ()


@pytest.mark.parametrize(("said", "target"), [("gfx90a", "gfx90a"), ("", "gfx90a:xnack+")])
def test_the_name_of_a_section_counts_before_its_object(tmp_path: Path, said: str, target: str) -> None:
    image = tmp_path / "image"
    image.write_bytes(code_object(0x73F))
    name = f"__CLANG_OFFLOAD_BUNDLE__hip-{'amdgcn' if said else 'amdgpu9.42'}-amd-amdhsa--{said}"
    code = device_code(library(tmp_path / "x.o", [], more=f'.section "{name}","e",@progbits\n.incbin "{image}"\n'))
    (found,) = code.bundles[0].images
    assert (found.target, found.object_target) == (target, "gfx90a:xnack+")
