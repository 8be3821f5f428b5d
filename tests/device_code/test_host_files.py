"""Libraries, programs, object files and archives that hold device code: compiled and linked for real."""

import struct
import subprocess
from pathlib import Path

import pytest
from sample_device_code import HIPK, bundle, code_object, compressed, kpack, library, message, objects, offload_binary

from rocm_sdk import BadLibraryError, DeviceCode, device_code

FIRST, SECOND = bundle(objects("gfx1030", "gfx90a")), bundle(objects("gfx1030", "gfx942", size=5000))
RELR = ("-Wl,-z,pack-relative-relocs",)


def found(code: DeviceCode) -> list[tuple[str | None, list[str]]]:
    return [(each.section, [image.target for image in each.images]) for each in code.bundles]


BOTH = [(".hip_fatbin", ["gfx1030", "gfx90a"]), (".hip_fatbin", ["gfx1030", "gfx942"])]


@pytest.mark.parametrize("flags", [(), RELR, ("-Wl,-z,norelro",)])
def test_a_library(tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = library(tmp_path / "libx.so", [FIRST, SECOND], *flags)
    code = device_code(path)
    content = path.read_bytes()
    assert (code.kind, found(code)) == ("ELF file", BOTH)
    assert [content[each.offset : each.offset + each.size] for each in code.bundles] == [FIRST, SECOND]
    assert [(each.target, each.size, each.image_count) for each in code.targets] == [
        ("gfx90a", 200, 1),
        ("gfx942", 5000, 1),
        ("gfx1030", 5200, 2),
    ]


def section_at(path: Path, name: str) -> tuple[int, int]:
    """Return offset and size of a section, in bytes."""
    lines = subprocess.check_output(["readelf", "-SW", str(path)], text=True).splitlines()
    line = next(line for line in lines if f" {name} " in line)
    fields = line.split(name, 1)[1].split()
    return int(fields[2], 16), int(fields[3], 16)


@pytest.mark.parametrize("word", [0, 1, 2**64 - 1])
def test_the_addend_goes_before_the_word(tmp_path: Path, word: int) -> None:
    path = library(tmp_path / "libx.so", [FIRST, SECOND])
    offset, size = section_at(path, ".hipFatBinSegment")
    content = bytearray(path.read_bytes())
    for wrapper in range(offset, offset + size, 24):
        content[wrapper + 8 : wrapper + 16] = struct.pack("<Q", word)
    path.write_bytes(content)
    assert found(device_code(path)) == BOTH


def test_aarch64(tmp_path: Path) -> None:
    """The same library with the numbers of the other machine."""
    path = library(tmp_path / "libx.so", [FIRST, SECOND])
    content = bytearray(path.read_bytes())
    content[18] = 183
    offset, size = section_at(path, ".rela.dyn")
    for relocation in range(offset, offset + size, 24):
        assert content[relocation + 8 : relocation + 16] == struct.pack("<Q", 8)
        content[relocation + 8 : relocation + 16] = struct.pack("<Q", 1027)
    wrappers, size = section_at(path, ".hipFatBinSegment")
    for wrapper in range(wrappers, wrappers + size, 24):
        content[wrapper + 8 : wrapper + 16] = bytes(8)
    path.write_bytes(content)
    assert found(device_code(path)) == BOTH


def test_a_program(tmp_path: Path) -> None:
    path = library(tmp_path / "program", [FIRST], "-shared", "-pie", "-Wl,-e,0")
    assert found(device_code(path)) == BOTH[:1]


def test_only_what_a_wrapper_leads_to(tmp_path: Path) -> None:
    """HIP does not see a bundle without one."""
    unused = tmp_path / "unused"
    unused.write_bytes(SECOND)
    more = f'.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "{unused}"\n'
    path = library(tmp_path / "libx.so", [FIRST], more=more)
    assert found(device_code(path)) == BOTH[:1]


def test_an_object_file(tmp_path: Path) -> None:
    """The wrappers have no addresses yet."""
    assert found(device_code(library(tmp_path / "x.o", [FIRST, compressed(SECOND, 3)]))) == BOTH


def test_without_wrappers(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [FIRST, SECOND])
    subprocess.run(["objcopy", "--rename-section", ".hipFatBinSegment=.other", str(path)], check=True)
    assert found(device_code(path)) == BOTH


def test_compressed_in_a_library(tmp_path: Path) -> None:
    for version, method in ((1, "zstd"), (1, "zlib"), (2, "zstd"), (3, "zlib")):
        path = library(tmp_path / "libx.so", [compressed(each, version, method) for each in (FIRST, SECOND)])
        code = device_code(path)
        assert found(code) == BOTH
        assert (code.compressed_count, code.plain_size) == (2, 10400)


def test_bare_code_object(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [code_object(0x36, size=64)])
    assert found(device_code(path)) == [(".hip_fatbin", ["gfx1030"])]


def test_a_debug_file(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [FIRST])
    subprocess.run(["objcopy", "--only-keep-debug", str(path)], check=True)
    code = device_code(path)
    assert (code.removed, code.bundles) == (True, ())


MARKER = {
    "kernel_name": "lib/libx.so",
    "kpack_search_paths": ["../.kpack/x_@GFXARCH@.kpack"],
    "new": [1, {"a": b"x"}, None],
}


@pytest.mark.parametrize("bundles", [[b""], [FIRST]])
def test_code_in_archives(tmp_path: Path, bundles: list[bytes]) -> None:
    """Bytes that the split has left over are not code of the library."""
    marker = tmp_path / "marker"
    marker.write_bytes(message(MARKER) + bytes(40))
    more = f'.section .rocm_kpack_ref,"a",@progbits\nmarker: .incbin "{marker}"\n'
    code = device_code(library(tmp_path / "libx.so", bundles, magic=HIPK, more=more))
    assert (code.kernel_name, code.kpack_paths) == ("lib/libx.so", ("../.kpack/x_@GFXARCH@.kpack",))
    assert (code.bundles, code.removed) == ((), False)


@pytest.mark.parametrize(("version", "method"), [(1, ""), (2, ""), (3, ""), (3, "zlib"), (3, "zstd")])
def test_offload_section(tmp_path: Path, version: int, method: str) -> None:
    records = tmp_path / "records"
    images = [("amdgcn-amd-amdhsa", "gfx90a:xnack+", code_object(0x73F)), ("nvptx64-nvidia-cuda", "sm_70", b"x" * 9)]
    records.write_bytes(offload_binary([*images, ("amdgcn-amd-amdhsa", "gfx1030", code_object(0x36))], version, method))
    more = f'.section .llvm.offloading,"e",@0x6FFF4C0B\n.p2align 3\n.incbin "{records}"\n'
    code = device_code(library(tmp_path / "x.o", [], more=more))
    assert [each for each in found(code) if each[1]] == [
        (".llvm.offloading", ["gfx90a:xnack+"]),
        (".llvm.offloading", ["gfx1030"]),
    ]
    assert device_code(records).targets == code.targets
    assert {bundle.compression for bundle in code.bundles} == {method or None}
    content = records.read_bytes()
    starts = {bundle.offset for bundle in device_code(records).bundles}
    for size in range(8, len(content) - 8, 13):
        records.write_bytes(content[:size])
        if not any(start - 8 < size <= start for start in starts):  # there the records before it are whole
            with pytest.raises(BadLibraryError):
                device_code(records)


def test_sections_of_the_bundler(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(code_object(0x73F))
    more = f'.section "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx90a:xnack+","e",@progbits\n.incbin "{image}"\n'
    code = device_code(library(tmp_path / "x.o", [], more=more))
    assert [(each.target, each.size) for each in code.targets] == [("gfx90a:xnack+", 200)]


@pytest.mark.parametrize("names", [("a.o", "b.o"), ("a_name_of_more_than_fifteen_characters.o", "b.o")])
def test_a_static_archive(tmp_path: Path, names: tuple[str, str]) -> None:
    members = [library(tmp_path / name, [each]) for name, each in zip(names, (FIRST, SECOND), strict=True)]
    (tmp_path / "readme").write_text("odd")
    path = tmp_path / "libx.a"
    subprocess.run(["ar", "rcs", str(path), str(tmp_path / "readme"), *map(str, members)], check=True)
    code = device_code(path)
    assert (code.kind, found(code)) == ("static archive", BOTH)
    assert tuple(each.member for each in code.bundles) == names
    content = path.read_bytes()
    assert [content[each.offset : each.offset + each.size] for each in code.bundles] == [FIRST, SECOND]
    for size in range(0, len(content) - 1, 397):
        path.write_bytes(content[:size])
        try:
            device_code(path)
        except BadLibraryError as error:
            assert error.code == "E-LIB-006"


def test_kpack(tmp_path: Path) -> None:
    path = tmp_path / "x.kpack"
    for scheme, compression in (("none", None), ("zstd-per-kernel", "zstd")):
        kernels = {"lib/libx.so#0": {"gfx942": b"x" * 700, "gfx942:xnack+": b"y" * 20}, "bin/app": {"gfx942": b"z"}}
        content = kpack(kernels, scheme)
        path.write_bytes(content)
        code = device_code(path)
        assert (code.kind, code.bundles[0].compression) == ("kpack archive", compression)
        assert [(each.id, each.target, each.size) for each in code.bundles[0].images] == [
            ("lib/libx.so#0", "gfx942", 700),
            ("lib/libx.so#0", "gfx942:xnack+", 20),
            ("bin/app", "gfx942", 1),
        ]
        for size in range(0, len(content), 7):
            path.write_bytes(content[:size])
            with pytest.raises(BadLibraryError):
                device_code(path)


def test_where_a_kpack_archive_may_have_its_contents(tmp_path: Path) -> None:
    """Behind the header, and before the end."""
    path = tmp_path / "x.kpack"
    content = kpack({"bin/app": {"gfx942": b"z"}})
    contents = content[struct.unpack_from("<Q", content, 8)[0] :]
    path.write_bytes(content[:8] + struct.pack("<Q", 16) + contents)
    assert [each.id for each in device_code(path).bundles[0].images] == ["bin/app"]
    for start in (0, 15, len(content), len(content) + 1, 2**64 - 1):
        path.write_bytes(content[:8] + struct.pack("<Q", start) + content[16:])
        with pytest.raises(BadLibraryError, match="table of contents of a kpack archive lies outside the file"):
            device_code(path)


def change_wrapper(path: Path, at: int, value: bytes) -> None:
    offset, _ = section_at(path, ".hipFatBinSegment")
    content = bytearray(path.read_bytes())
    content[offset + at : offset + at + len(value)] = value
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        (0, b"XXXX", "neither of the marks"),
        (4, b"\2", "neither of the marks"),
        (8, struct.pack("<Q", 1 << 40), "outside the file"),
        (8, struct.pack("<Q", 8), "outside the file"),
        (8, b"\1", "neither a bundle"),
    ],
)
def test_damaged_wrappers(tmp_path: Path, at: int, value: bytes, what: str) -> None:
    path = library(tmp_path / "libx.so", [FIRST], *RELR)
    change_wrapper(path, at, value)
    with pytest.raises(BadLibraryError, match=what):
        device_code(path)


def test_cut_anywhere(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [compressed(FIRST, 3)])
    content = path.read_bytes()
    for size in range(0, len(content), 31):
        path.write_bytes(content[:size])
        with pytest.raises(BadLibraryError):
            device_code(path)


def test_overlapping_relocation_tables(tmp_path: Path) -> None:
    """Tables that lie over each other are not read again and again."""
    path = library(tmp_path / "libx.so", [FIRST])
    content = bytearray(path.read_bytes())
    (table,) = struct.unpack_from("<Q", content, 0x28)
    count = struct.unpack_from("<H", content, 0x3C)[0]
    for i in range(1, count):
        name = struct.unpack_from("<I", content, table + 64 * i)[0]
        kind = struct.unpack_from("<I", content, table + 64 * i + 4)[0]
        if kind == 4 or (kind == 6 and name):  # SHT_RELA, SHT_DYNAMIC
            struct.pack_into("<IQQQQ", content, table + 64 * i + 4, 4, 2, 0, 0, len(content) - 100)
    path.write_bytes(content)
    with pytest.raises(BadLibraryError, match="relocations"):
        device_code(path)


def test_not_for_this_reader(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (b"", b"x", b"text\n" * 100, b"\x7fELF", b"MZ" + bytes(100), b"SQLite format 3\0" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(BadLibraryError, match="neither an ELF file nor"):
            device_code(path)
    with pytest.raises(FileNotFoundError):
        device_code(tmp_path / "nothing")
    with pytest.raises(OSError, match="a directory"):
        device_code(tmp_path)
