"""The refusals: the error names the file and the cause, the original is unchanged, and nothing is left behind."""

import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled_files import compile_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import completed
from sample_device_code import HIPK, bundle, code_object, compressed, library, message, objects

from rocm_sdk import BadLibraryError, RewriteError, RocmSdkError, device_code
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

TARGETS = ("gfx1030", "gfx942")
KEEP = NewCode(("gfx1030",), check_loading=False)
ID = "hipv4-amdgcn-amd-amdhsa--"
PLAIN = bundle(objects(*TARGETS, size=9000))


def section_at(path: Path, name: str) -> int:
    lines = subprocess.check_output(["readelf", "-SW", str(path)], text=True).splitlines()
    fields = next(line for line in lines if f" {name} " in line).split(name, 1)[1].split()
    return int(fields[2], 16)


def a_word_into_the_code(directory: Path) -> Path:
    more = '.section .data,"aw",@progbits\n.quad fatbin0 + 64'
    return library(directory / "libx.so", [PLAIN], more=more)


def a_packed_word_into_the_code(directory: Path) -> Path:
    more = '.section .data,"aw",@progbits\n.p2align 3\n.quad fatbin0 + 64'
    return library(directory / "libx.so", [PLAIN], "-Wl,-z,pack-relative-relocs", more=more)


def no_wrappers(directory: Path) -> Path:
    path = library(directory / "libx.so", [PLAIN])
    subprocess.run(["objcopy", "--rename-section", ".hipFatBinSegment=.data2", str(path)], check=True)
    return path


def code_elsewhere(directory: Path) -> Path:
    file = directory / "more.bundle"
    file.write_bytes(PLAIN)
    more = f'.section .rodata.x,"a",@progbits\n.p2align 12\nelsewhere: .incbin "{file}"\n'
    more += '.section .hipFatBinSegment,"aw",@progbits\n.long 0x48495046, 1\n.quad elsewhere, 0'
    return library(directory / "libx.so", [PLAIN], more=more)


def data_behind_the_end(directory: Path) -> Path:
    path = library(directory / "libx.so", [PLAIN])
    path.write_bytes(path.read_bytes() + b"payload" * 10)
    return path


def a_claim_of_100_tb(directory: Path) -> Path:
    data = bytearray(compressed(PLAIN, 3))
    data[16:24] = struct.pack("<Q", 100 << 40)
    (directory / "x.co").write_bytes(data)
    return directory / "x.co"


def a_bomb(directory: Path) -> Path:
    data = bytearray(compressed(PLAIN + bytes(1 << 28), 3))
    data[16:24] = struct.pack("<Q", len(PLAIN))
    (directory / "x.co").write_bytes(data)
    return directory / "x.co"


def a_wrong_hash(directory: Path) -> Path:
    data = bytearray(compressed(PLAIN, 2))
    data[16] ^= 1
    (directory / "x.co").write_bytes(data)
    return directory / "x.co"


def a_cut_stream(directory: Path) -> Path:
    data = bytearray(compressed(PLAIN + random.Random(1).randbytes(1 << 20), 3))
    data[8:16] = struct.pack("<Q", len(data) - 5000)
    (directory / "x.co").write_bytes(data[:-5000])
    return directory / "x.co"


def overlapping_entries(directory: Path) -> Path:
    data = bytearray(PLAIN)
    entry = 32 + 24 + len("host-x86_64-unknown-linux--")
    data[entry + 8 : entry + 16] = struct.pack("<Q", 16384 - 4096 + 4)  # the next one is at 16384
    (directory / "x.co").write_bytes(data)
    return directory / "x.co"


def a_split_library(directory: Path) -> Path:
    marker = directory / "marker"
    marker.write_bytes(message({"kernel_name": "lib/libx.so", "kpack_search_paths": ["../.kpack/x_@GFXARCH@.kpack"]}))
    more = f'.section .rocm_kpack_ref,"a",@progbits\nmarker: .incbin "{marker}"\n'
    return library(directory / "libx.so", [PLAIN], magic=HIPK, more=more)


def no_code(directory: Path) -> Path:
    path = directory / "libx.so"
    subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", str(path)], input="int x;", text=True, check=True)
    return path


def a_single_code_object(directory: Path) -> Path:
    (directory / "x.co").write_bytes(code_object(0x36, size=64))
    return directory / "x.co"


def an_object_file(directory: Path) -> Path:
    return library(directory / "x.o", [PLAIN])


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (a_word_into_the_code, "which is not a wrapper, points into its code"),
        (a_packed_word_into_the_code, "which is not a wrapper, points into its code"),
        (no_wrappers, "it has no wrappers"),
        (code_elsewhere, "leads to no bundle in .hip_fatbin"),
        (data_behind_the_end, r"70 bytes follow its last section, at byte \d+"),
        (a_claim_of_100_tb, "more than any has"),
        (a_bomb, "holds something else than its header says"),
        (a_wrong_hash, "holds something else than its header says"),
        (a_cut_stream, "holds something else than its header says"),
        (overlapping_entries, "entries of the bundle at byte 0 overlap"),
        (a_split_library, "kpack archives"),
        (no_code, "it has no GPU code"),
        (a_single_code_object, "files of this kind .code object. are not rewritten"),
        (an_object_file, "it is an object file"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(tmp_path: Path, make: Callable[[Path], Path], cause: str) -> None:
    path = make(tmp_path)
    before, there = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(RewriteError, match=cause) as caught:
        rewrite_file(str(path), str(tmp_path / "new"), KEEP)
    assert (caught.value.code, caught.value.path) == ("E-CODE-010", str(path))
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, there)


def test_no_code_for_the_gpu(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [PLAIN])
    with pytest.raises(
        RewriteError, match=r"no code that gfx1100 runs: the file has code for gfx942, gfx1030"
    ) as caught:
        rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1100",)))
    assert caught.value.code == "E-CODE-012"
    assert not (tmp_path / "new").exists()


def test_growth_is_asked_about(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [compressed(bundle({ID + "gfx1030": bytes(1 << 20)}), 3)])
    wish = NewCode(compressed=False)
    with pytest.raises(RewriteError, match="would grow") as caught:
        rewrite_file(str(path), str(tmp_path / "new"), wish)
    assert caught.value.code == "E-CODE-014"
    rewrite_file(str(path), str(tmp_path / "new"), wish._replace(may_grow=True))
    assert device_code(tmp_path / "new").compressed_count == 0


def test_never_in_place(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [PLAIN])
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    for output in ("libx.so", "link", "hard"):
        with pytest.raises(RewriteError, match="never rewritten in place"):
            rewrite_file(str(path), str(tmp_path / output), KEEP)
    with pytest.raises(IsADirectoryError):
        rewrite_file(str(path), str(tmp_path), KEEP)
    with pytest.raises(FileNotFoundError):
        rewrite_file(str(path), str(tmp_path / "missing" / "new"), KEEP)


def test_mode_and_attributes_stay(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [PLAIN])
    path.chmod(0o750)
    os.setxattr(path, "user.origin", b"here")
    (tmp_path / "new").write_text("before")
    rewrite_file(str(path), str(tmp_path / "new"), KEEP)
    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o750
    assert os.getxattr(tmp_path / "new", "user.origin") == b"here"


def test_a_library_that_does_not_load_here(tmp_path: Path) -> None:
    path = library(
        tmp_path / "libx.so", [PLAIN], "-Wl,--no-as-needed", str(no_code(tmp_path).rename(tmp_path / "libgone.so"))
    )
    (tmp_path / "libgone.so").unlink()
    made = rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1030",)))
    assert not made.loaded
    assert "the original does not load here" in str(made.remark)


def with_code(directory: Path, code: str) -> Path:
    """Make a library with GPU code and host code, which is linked into it."""
    host = compile_file(["gcc", "-c", "-fPIC", "-x", "c", "-"], directory / "host.o", f"#include <unistd.h>\n{code}")
    return library(directory / "libx.so", [PLAIN], host, "-lc")


def test_a_library_that_prints(tmp_path: Path) -> None:
    """The library may print before and behind the answer of the process that loads it, and a line without an end."""
    begin = '__attribute__((constructor)) static void begin(void) { write(1, "begins", 6); }'
    end = '__attribute__((destructor)) static void end(void) { write(1, "ends\\n{}", 7); }'
    path = with_code(tmp_path, f"{begin}\n{end}\n")
    assert rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1030",))).loaded


def test_a_library_that_ends_its_process(tmp_path: Path) -> None:
    path = with_code(tmp_path, "__attribute__((constructor)) static void begin(void) { _exit(0); }\n")
    made = rewrite_file(str(path), str(tmp_path / "new"), NewCode(("gfx1030",)))
    assert not made.loaded
    assert made.remark == "the original does not load here: the process that loads it ends before it has answered"


@pytest.mark.parametrize(
    ("install", "fix"),
    [
        ("'pip install backports.zstd'", "python -m pip install backports.zstd  # with the Python "),
        ("None", "Use a Python that was built with libzstd"),
    ],
    ids=["before 3.14", "3.14"],
)
def test_without_the_module_for_zstd(tmp_path: Path, install: str, fix: str) -> None:
    (tmp_path / "x.co").write_bytes(compressed(PLAIN, 3))
    program = (
        "import sys\n"
        "sys.modules['backports.zstd'] = sys.modules['compression.zstd'] = None\n"
        "from rocm_sdk_build.code.rewrite import *\n"
        f"from rocm_sdk_build.code import compression; compression.ZSTD_INSTALL = {install}\n"
        f"rewrite_file({str(tmp_path / 'x.co')!r}, None, NewCode(('gfx1030',)))"
    )
    done = completed([sys.executable, "-c", program])
    assert "its code is compressed with zstd" in done.stderr
    assert "[E-CODE-011]\n  fix: " in done.stderr
    assert f"fix: {fix}" in done.stderr.splitlines()[-1]


# ---- damaged files ----

SOUND: dict[str, bytes] = {}


def sound(directory: Path, kind: str) -> bytes:
    if kind not in SOUND:
        path = directory / "libs.so"
        content = [PLAIN, bundle(objects(*TARGETS, size=300))]
        packed = [compressed(each, 2) for each in content]
        SOUND[kind] = library(path, packed if kind == "packed" else content).read_bytes()
    return SOUND[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "packed"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_library_is_refused_or_rewritten_right(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """A rewritten library has the very images that the damaged file has for the target, and is verified as any is."""
    content = bytearray(sound(tmp_path, kind))
    regions = st.one_of(
        st.integers(0, 1023),  # the ELF header and what follows it
        st.integers(max(0, len(content) - 2048), len(content) - 1),  # sections, names, symbols
        st.integers(0, len(content) - 1),
    )
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(regions)
        size = data.draw(st.sampled_from([1, 2, 4, 8]))
        value = data.draw(
            st.one_of(st.integers(0, 255), st.sampled_from([0, 2**16, 2**31, 2**63, 2**64 - 1, 4096, 64]))
        )
        content[at : at + size] = struct.pack("<Q", value)[:size]
    path, new = tmp_path / "libd.so", tmp_path / "new"
    path.write_bytes(content)
    try:
        rewrite_file(str(path), str(new), KEEP)
    except RocmSdkError:
        assert not new.exists()
        return
    before = [image for each in extracted(path, tmp_path / "before") if "gfx1030" in (image := each)[0]]
    assert extracted(new, tmp_path / "after") == before
    new.unlink()


def extracted(path: Path, directory: Path) -> list[tuple[str, bytes]]:
    found = [(each.id, Path(each.path).read_bytes()) for each in extract_code(str(path), str(directory))]
    for file in directory.iterdir():
        file.unlink()
    return found


@pytest.mark.slow
def test_truncated_at_every_byte(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942", size=100), align=8)], "-s")
    content = path.read_bytes()
    for size in [*range(0, len(content), 7), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises((RewriteError, BadLibraryError)):
            rewrite_file(str(path), str(tmp_path / "new"), KEEP)
    assert not (tmp_path / "new").exists()
