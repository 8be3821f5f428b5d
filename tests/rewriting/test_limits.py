"""The cost of a hostile file: a refusal takes little time and memory, and so does the largest accepted file.

The table of limits is in docs/limits.md.
"""

import hashlib
import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from sample_device_code import FLAGS, bundle, code_object, library, objects

from rocm_sdk import BadLibraryError, RewriteError, device_code
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.__main__ import main
from rocm_sdk_build.code.bundles import HOLE_LIMIT, PLAIN_LIMIT, RATIO_LIMIT
from rocm_sdk_build.code.elf64 import SHT_NOTE, SHT_RELR, Elf, pack_sections, read_elf
from rocm_sdk_build.code.kpack import CONTENTS_LIMIT, KERNEL_LIMIT, pack
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

zstd = import_zstd()

_SECONDS, _BYTES = 5, 100 << 20
PLAIN = bundle(objects("gfx1030", "gfx942", size=9000))
_CHILD = """
import resource, sys
from rocm_sdk import RocmSdkError
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
def peak():  # ru_maxrss counts what the parent had before exec
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) << 10
before, start = peak(), resource.getrusage(resource.RUSAGE_SELF)
try:
    made = rewrite_file(sys.argv[1], sys.argv[2], NewCode(("gfx1030",), check_loading=False))
    answer = f"{made.size_before} {made.size}"
except RocmSdkError as error:
    answer = error.message
end = resource.getrusage(resource.RUSAGE_SELF)
print(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime, peak() - before, answer)
"""


class Cost(NamedTuple):
    """The cost of an attempt to keep the code for gfx1030, and the way it ended."""

    seconds: float  # of the processor
    size: int  # bytes of memory
    answer: str


def cost_of(path: Path) -> Cost:
    output = path.with_name("output")
    command = [sys.executable, "-c", _CHILD, str(path), str(output)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds, size, answer = said.strip().split(" ", 2)
    assert [each.name for each in path.parent.iterdir() if each.name.startswith(".rocm-sdk")] == []
    return Cost(float(seconds), int(size), answer)


def sparse(path: Path, size: int, *parts: tuple[int, bytes]) -> Path:
    """Write a file of `size` bytes that has these bytes at these offsets."""
    with path.open("wb") as file:
        for offset, data in parts:
            file.seek(offset)
            file.write(data)
    os.truncate(path, size)
    return path


def header(contents_at: int) -> bytes:
    """Return the header of a kpack archive."""
    return b"KPAK" + struct.pack("<IQ", 1, contents_at) + bytes(48)


def table(ordinals: Sequence[int]) -> dict[str, object]:
    return {
        f"lib/libMIOpen.so.1#{number}": {"gfx1030": {"type": "hsaco", "ordinal": ordinal, "original_size": 8}}
        for number, ordinal in enumerate(ordinals)
    }


def write_kpack(path: Path, toc: object, blobs: object, more: bytes = b"", size: int = 0) -> Path:
    """Write an archive with `size` bytes of blobs.

    `more` are the bytes of a further field behind the usual ones.
    """
    contents = pack({"toc": toc, "blobs": blobs, "gfx_arches": ["gfx1030"]})
    data = header(64 + size) + os.urandom(size) + (b"\x84" if more else b"\x83")
    path.write_bytes(data + contents[1:] + more)
    return path


def kpack_of(path: Path, count: int) -> Path:
    """Write an archive of so many kernels of 8 bytes."""
    return write_kpack(
        path, table(range(count)), [{"offset": 64 + 8 * i, "size": 8} for i in range(count)], size=8 * count
    )


# ---- what is refused ----


def a_claim_of_500_million_blobs(path: Path) -> Path:
    count = 500_000_000
    places = {"compression_scheme": "zstd-per-kernel", "zstd_offset": 64, "zstd_size": 4 + 4 * count}
    contents = pack({"toc": table([0]), **places})
    end = 68 + 4 * count
    return sparse(path, end + len(contents), (0, header(end) + struct.pack("<I", count)), (end, contents))


def an_unknown_field_of_zeros(path: Path) -> Path:
    count = 120_000_000
    write_kpack(path, table([0]), [{"offset": 64, "size": 1}], pack("x") + b"\xdd" + struct.pack(">I", count), size=1)
    os.truncate(path, path.stat().st_size + count)
    return path


def an_entry_of_zeros(path: Path) -> Path:
    """Write an archive below the limit of the table of contents: decoded, it would have hundreds of megabytes."""
    toc = b"\x81\xa1k\x81\xa7gfx1030\x82\xa7ordinal\x00\xa1x\xdd" + struct.pack(">I", 30_000_000) + bytes(30_000_000)
    path.write_bytes(
        header(65) + b"\x00" + b"\x82" + pack("blobs") + pack([{"offset": 64, "size": 1}]) + pack("toc") + toc
    )
    return path


def overlapping_blobs(path: Path) -> Path:
    blobs = [{"offset": 64 + i, "size": 1_800_000} for i in range(2000)]
    return write_kpack(path, table(range(2000)), blobs, size=3_600_000)


def one_kernel_too_many(path: Path) -> Path:
    return write_kpack(path, table([0] * (KERNEL_LIMIT + 1)), [{"offset": 64, "size": 8}], size=8)


def one_blob_too_many(path: Path) -> Path:
    return write_kpack(path, table([0]), [{"offset": 64, "size": 0}] * (KERNEL_LIMIT + 1))


def one_field_too_many(path: Path) -> Path:
    fields = {"toc": table([0]), "blobs": [{"offset": 64, "size": 0}], "gfx_arches": ["gfx1030"]}
    path.write_bytes(header(64) + pack(fields | {f"x{number}": 1 for number in range(126)}))
    return path


def contents_too_large(path: Path) -> Path:
    write_kpack(path, table([0]), [{"offset": 64, "size": 0}])
    os.truncate(path, 64 + CONTENTS_LIMIT + 1)
    return path


def packed(path: Path, plain: bytes, size: int, claim: int | None = None) -> Path:
    """Write a compressed bundle of `size` bytes; its header says `claim` as the plain size, or the true size."""
    content = zstd.compress(plain)
    digest = hashlib.md5(plain, usedforsecurity=False).digest()[:8]
    assert 32 + len(content) <= size
    head = struct.pack("<4sHHQQ8s", b"CCOB", 3, 1, size, claim or len(plain), digest)
    path.write_bytes((head + content).ljust(size, b"\0"))
    return path


def of_size(size: int) -> bytes:
    """Return a bundle, of so many bytes, that has 256 kB of code that cannot be compressed, and zeros."""
    target = "hipv4-amdgcn-amd-amdhsa--gfx1030"
    noise = code_object(FLAGS["gfx1030"], size=256 << 10)
    return bundle({target: noise.ljust(size - 4096, b"\0")})


def a_bundle_of_6_gb_of_zeros(path: Path) -> Path:
    return packed(path, PLAIN, 200_000, claim=6 << 30)


def a_bundle_above_the_ratio(path: Path) -> Path:
    return packed(path, of_size(300_000 * RATIO_LIMIT + 1), 300_000)


def a_small_bundle_above_the_ratio(path: Path) -> Path:
    return packed(path, PLAIN.ljust(PLAIN_LIMIT + 1, b"\0"), 30_000)


def a_hole_of_20_gb(path: Path) -> Path:
    library(path, [PLAIN])
    os.truncate(path, 20 << 30)
    return path


def with_a_hole(path: Path, size: int) -> Path:
    """Make a library whose end is a hole."""
    library(path, [PLAIN])
    data = path.stat().st_size
    block = path.stat().st_blksize
    os.truncate(path, data + -data % block + size)
    return path


def a_hole_that_is_too_large(path: Path) -> Path:
    return with_a_hole(path, HOLE_LIMIT + 4096)


HOSTILE: tuple[tuple[Callable[[Path], Path], str], ...] = (
    (a_claim_of_500_million_blobs, "500000000 blobs, more than the limit of 262144"),
    (an_unknown_field_of_zeros, "table of contents has .* bytes, more than the limit of 33554432"),
    (an_entry_of_zeros, "bytes in one value, more than the limit of 65536"),
    (overlapping_blobs, "its blobs overlap at byte 65"),
    (one_kernel_too_many, "262145 keys, more than the limit of 262144"),
    (one_blob_too_many, "262145 blobs, more than the limit of 262144"),
    (one_field_too_many, "129 fields, more than the limit of 128"),
    (contents_too_large, "has 33554433 bytes, more than the limit of 33554432"),
    (a_bundle_of_6_gb_of_zeros, "has 200000 compressed bytes, which claim to be 6442450944; --force takes it"),
    (a_bundle_above_the_ratio, "has 300000 compressed bytes, which claim to be 76800001"),
    (a_small_bundle_above_the_ratio, "which claim to be 67108865"),
    (a_hole_of_20_gb, "has holes of more than 268435456 bytes"),
    (a_hole_that_is_too_large, "has holes of more than 268435456 bytes"),
)


@pytest.mark.parametrize(("make", "answer"), HOSTILE, ids=[make.__name__ for make, _ in HOSTILE])
def test_a_refusal_is_cheap(tmp_path: Path, make: Callable[[Path], Path], answer: str) -> None:
    path = make(tmp_path / "hostile")
    cost = cost_of(path)
    assert re.search(answer, cost.answer), cost
    assert cost.seconds < _SECONDS, cost
    assert cost.size < _BYTES, cost
    assert not (tmp_path / "output").exists()


# ---- what is accepted ----


@pytest.mark.slow
def test_an_archive_of_many_kernels_is_rewritten(tmp_path: Path) -> None:
    """Of a quarter of those that it may have, in a quarter of the memory: time grows with them."""
    path = kpack_of(tmp_path / "x.kpack", KERNEL_LIMIT // 4)
    cost = cost_of(path)
    assert cost.answer == f"{path.stat().st_size} {path.stat().st_size}"
    assert cost.size < _BYTES // 4, cost


def test_the_most_kernels_and_one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = kpack_of(tmp_path / "x.kpack", 8)
    wish = NewCode(("gfx1030",), check_loading=False)
    monkeypatch.setattr("rocm_sdk_build.code.kpack.KERNEL_LIMIT", 7)
    with pytest.raises(RewriteError, match="more than the limit of 7"):
        rewrite_file(str(path), str(tmp_path / "new"), wish)
    monkeypatch.setattr("rocm_sdk_build.code.kpack.KERNEL_LIMIT", 8)
    rewrite_file(str(path), str(tmp_path / "new"), wish)


def test_an_archive_with_the_largest_contents_is_rewritten(tmp_path: Path) -> None:
    path = write_kpack(tmp_path / "x.kpack", table([0]), [{"offset": 64, "size": 8}], b"\xa1x\xc6\0\0\0\0", size=8)
    room = 72 + CONTENTS_LIMIT - path.stat().st_size
    data = path.read_bytes()
    path.write_bytes(data[:-4] + struct.pack(">I", room) + bytes(room))
    cost = cost_of(path)
    assert cost.answer == f"{path.stat().st_size} {path.stat().st_size}"
    assert cost.size < _BYTES, cost


@pytest.mark.slow
def test_bundles_at_the_ratio_are_rewritten(tmp_path: Path) -> None:
    for path in (
        packed(tmp_path / "x.co", of_size(300_000 * RATIO_LIMIT), 300_000),
        packed(tmp_path / "y.co", PLAIN.ljust(PLAIN_LIMIT, b"\0"), 30_000),
    ):
        assert re.fullmatch(r"\d+ \d+", cost_of(path).answer)


def test_a_bundle_above_the_ratio_is_taken_by_force(tmp_path: Path) -> None:
    path = a_bundle_above_the_ratio(tmp_path / "x.co")
    words = ["code", str(path), "--output", str(tmp_path / "new"), "--force"]
    assert main([*words, "--keep", "gfx1030"]) == 0
    assert main(["code", str(tmp_path / "new"), "--extract", str(tmp_path / "out")]) == 1
    assert main(["code", str(tmp_path / "new"), "--extract", str(tmp_path / "out"), "--force"]) == 0
    assert [each.stat().st_size for each in (tmp_path / "out").iterdir()] == [300_000 * RATIO_LIMIT + 1 - 4096]


@pytest.mark.slow
def test_a_library_with_the_largest_hole_is_rewritten(tmp_path: Path) -> None:
    cost = cost_of(with_a_hole(tmp_path / "libx.so", HOLE_LIMIT))
    assert re.fullmatch(r"\d+ \d+", cost.answer), cost
    assert int(cost.answer.split()[1]) < 1 << 20


@pytest.mark.slow
def test_many_symbols_and_relocations(tmp_path: Path) -> None:
    """Symbols and relocations are compared one by one."""
    names = ".altmacro\n.macro name number\n.globl name\\number\nname\\number:\n.quad name\\number\n.endm\n"
    more = f'{names}.section .data,"aw",@progbits\n.set i, 0\n.rept 200000\nname %i\n.set i, i + 1\n.endr'
    cost = cost_of(library(tmp_path / "libx.so", [PLAIN], more=more))
    assert re.fullmatch(r"\d+ \d+", cost.answer), cost
    assert cost.size < _BYTES // 4, cost


# A limit that no small file reaches is lowered to what a file has, and by one more.
LOWERED = (
    ("elf64._SECTION_LIMIT", lambda elf: len(elf.sections) + 1, "more headers than a library"),
    ("elf64._SEGMENT_LIMIT", lambda elf: len(elf.segments), "more headers than a library"),
    ("elf64._WHOLE_LIMIT", lambda elf: elf.sections[elf.names_index].size, "any such"),
    ("wrappers._RELR_LIMIT", lambda elf: next(s.size for s in elf.sections if s.type == SHT_RELR), "any such"),
    ("header_room._NEAR_LIMIT", lambda elf: sum(s.type == SHT_NOTE for s in elf.sections), "more notes stand where"),
    ("rewrite.IMAGE_LIMIT", lambda _: 2, "has 2 code objects, more than the limit of 1"),
)


@pytest.mark.parametrize(("name", "measure", "answer"), LOWERED, ids=[name for name, *_ in LOWERED])
def test_the_limit_and_one_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, measure: Callable[[Elf], int], answer: str
) -> None:
    more = f'.section .data,"aw",@progbits\n.p2align 3\nhere: .quad here\n.section .{"x" * 9000}\n.quad 0'
    path = library(tmp_path / "libx.so", [PLAIN], "-Wl,-z,pack-relative-relocs", more=more)
    with path.open("rb") as file:
        size = measure(read_elf(file.fileno(), str(path)))
    wish = NewCode(("gfx1030",), check_loading=False)
    limit = f"rocm_sdk_build.code.{name}"
    monkeypatch.setattr(limit, size - 1)
    with pytest.raises(RewriteError, match=answer):
        rewrite_file(str(path), str(tmp_path / "new"), wish)
    assert not (tmp_path / "new").exists()
    # The new file has a section and two segments more.
    monkeypatch.setattr(limit, size + 2 if name in ("elf64._SECTION_LIMIT", "elf64._SEGMENT_LIMIT") else size)
    rewrite_file(str(path), str(tmp_path / "new"), wish)


def test_the_most_relocations_of_a_wrapper_and_one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path / "libx.so", [PLAIN], "-Wl,-z,nopack-relative-relocs")
    wish = NewCode(("gfx1030",), check_loading=False)
    monkeypatch.setattr("rocm_sdk_build.code.wrappers._ADDEND_LIMIT", 0)
    with pytest.raises(RewriteError, match="is relocated too often"):
        rewrite_file(str(path), str(tmp_path / "new"), wish)
    monkeypatch.setattr("rocm_sdk_build.code.wrappers._ADDEND_LIMIT", 1)
    rewrite_file(str(path), str(tmp_path / "new"), wish)


def test_sections_that_share_bytes(tmp_path: Path) -> None:
    """Each is read, so together they would make a small file as large as one likes."""
    path = library(tmp_path / "libx.so", [PLAIN], more='.section .comment2,"",@progbits\n.zero 9000')
    with path.open("rb") as file:
        elf = read_elf(file.fileno(), str(path))
    index = elf.find(b".comment2")
    assert index is not None
    sections = [
        replace(each, offset=64, size=elf.size - 64) if i == index else each for i, each in enumerate(elf.sections)
    ]
    data = bytearray(path.read_bytes())
    data[elf.sections_offset :] = pack_sections(sections)
    path.write_bytes(data)
    with pytest.raises(RewriteError, match="its sections overlap"):
        rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1030",)))


@pytest.mark.slow
def test_listing_takes_the_most_kernels_and_refuses_one_more(tmp_path: Path) -> None:
    most = device_code(kpack_of(tmp_path / "x.kpack", KERNEL_LIMIT))
    assert sum(each.image_count for each in most.targets) == KERNEL_LIMIT
    with pytest.raises(BadLibraryError, match="more entries than any library"):
        device_code(one_kernel_too_many(tmp_path / "x.kpack"))
    with pytest.raises(BadLibraryError, match="table of contents of a kpack archive is larger than any"):
        device_code(contents_too_large(tmp_path / "x.kpack"))
