"""The flag for an executable stack: which code needs it, and how it is cleared."""

import struct
import subprocess
from pathlib import Path

import pytest
from compiled_files import compile_file
from programs import completed
from system_programs import need

from rocm_sdk import RewriteError, _native
from rocm_sdk_build.code.executable_stack import clear_executable_stack, writes_trampolines

NESTED = """
int call(int (*function)(int), int x);
int outer(int k, int x) { int inner(int y) { return y + k; } return call(inner, x); }
"""
PT_GNU_STACK = 0x6474E551


def by_mistake(path: Path) -> Path:
    """Make a library with an assembler file that has no .note.GNU-stack.

    Debian 13's linker wants the option, too.
    """
    source = ".text\n.globl answer\nanswer: mov $42, %eax\nret\n"
    return compile_file(["gcc", "-shared", "-Wl,-z,execstack", "-x", "assembler", "-"], path, source)


def cleared(path: Path) -> bool:
    with path.open("r+b", buffering=0) as file:
        return clear_executable_stack(file.fileno(), str(path))


def stack_flags(path: Path) -> str:
    """Return the flags of the stack's segment, as readelf tells them."""
    told = subprocess.check_output(["readelf", "-lW", str(path)], text=True)
    (line,) = (line for line in told.splitlines() if "GNU_STACK" in line)
    return "".join(line.split()[6:-1])


def test_the_flag_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    path = by_mistake(tmp_path / "libmistake.so")
    before = path.read_bytes()
    assert (stack_flags(path), writes_trampolines(str(path))) == ("RWE", False)
    assert cleared(path)
    assert stack_flags(path) == "RW"
    assert not _native.inspect_library(path).executable_stack
    changed = [place for place, (one, other) in enumerate(zip(before, path.read_bytes(), strict=True)) if one != other]
    assert len(changed) == 1
    assert not cleared(path)


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("more", ["-fcf-protection", "-fcf-protection=none"])
def test_nested_functions_need_it(tmp_path: Path, level: str, more: str) -> None:
    command = ["gcc", "-shared", "-fPIC", level, more, "-x", "c", "-"]
    path = compile_file(command, tmp_path / "libnested.so", NESTED)
    assert (stack_flags(path), writes_trampolines(str(path))) == ("RWE", True)


def test_trampolines_of_llvm(tmp_path: Path) -> None:
    """As flang makes them of internal procedures."""
    need("clang")
    source = tmp_path / "trampoline.ll"
    source.write_text("""
declare void @llvm.init.trampoline(i8*, i8*, i8*)
declare void @call(i8*)
define internal i32 @inner(i8* nest %k) { ret i32 0 }
define void @outer(i8* %t) {
  call void @llvm.init.trampoline(i8* %t, i8* bitcast (i32 (i8*)* @inner to i8*), i8* %t)
  call void @call(i8* %t)
  ret void
}
""")
    path = tmp_path / "libtrampoline.so"
    command = ["clang", "-shared", "-fPIC", "-Wno-override-module", str(source), "-o", str(path)]
    done = completed(command)
    if "expected type" in done.stderr:
        pytest.skip("this clang has no pointers with types")
    assert done.returncode == 0, done.stderr
    assert writes_trampolines(str(path))


def test_code_of_this_system_writes_none() -> None:
    for path in sorted(Path("/usr/lib").glob("*-linux-gnu/lib[a-g]*.so.*"))[:100]:
        if path.read_bytes()[:4] == b"\x7fELF":
            assert not writes_trampolines(str(path)), path


def test_a_processor_of_which_nothing_is_known(tmp_path: Path) -> None:
    """A file with nothing but program headers."""
    size = 64
    header = struct.pack("<HHI3QI6H", 3, 20, 1, 0, size, 0, 0, size, 56, 2, 0, 0, 0)
    data = b"\x7fELF\2\1\1" + bytes(9) + header
    for type_, flags, length in [(1, 5, size), (PT_GNU_STACK, 7, 0)]:
        data += struct.pack("<2I6Q", type_, flags, 0, 0, 0, length, length, 1)
    path = tmp_path / "file"
    path.write_bytes(data)
    assert stack_flags(path) == "RWE"
    assert writes_trampolines(str(path)) is None
    assert cleared(path)
    assert stack_flags(path) == "RW"
    assert len(path.read_bytes()) == len(data)


HOSTILE = {
    "empty": lambda data: data[:0],
    "text": lambda data: b"#!/bin/sh\n" + data,
    "cut": lambda data: data[:40],
    "32 bits": lambda data: data[:4] + b"\1" + data[5:],
    "big-endian": lambda data: data[:5] + b"\2" + data[6:],
    "far table": lambda data: data[:32] + struct.pack("<Q", 1 << 63) + data[40:],
    "table at the end": lambda data: data[:32] + struct.pack("<Q", len(data) - 8) + data[40:],
    "size of rows": lambda data: data[:54] + struct.pack("<H", 8) + data[56:],
    "many rows": lambda data: data[:56] + struct.pack("<H", 0xFFFF) + data[58:],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(tmp_path: Path, name: str) -> None:
    path = by_mistake(tmp_path / "lib.so")
    path.write_bytes(HOSTILE[name](path.read_bytes()))
    before = path.read_bytes()
    for function in (cleared, lambda path: writes_trampolines(str(path))):
        with pytest.raises(RewriteError, match=r"lib\.so") as found:
            function(path)
        assert found.value.code == "E-CODE-010"
    assert path.read_bytes() == before


def test_a_segment_outside_the_file(tmp_path: Path) -> None:
    path = by_mistake(tmp_path / "lib.so")
    data = bytearray(path.read_bytes())
    (table,) = struct.unpack_from("<Q", data, 32)
    for row in range(table, table + 56 * data[56], 56):
        if struct.unpack_from("<II", data, row) == (1, 5):
            struct.pack_into("<Q", data, row + 32, 1 << 62)
    path.write_bytes(data)
    with pytest.raises(RewriteError, match="ends before byte"):
        writes_trampolines(str(path))
