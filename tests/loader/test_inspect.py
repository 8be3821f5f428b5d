"""The facts of a library's file that the extension reads for `rocm-sdk test`."""

from pathlib import Path

import pytest
from sample_site import compile_library

from rocm_sdk import BadLibraryError, LibraryNotFoundError, _native

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
    assert facts.damages == ()
    assert _native.inspect_library(str(library)) == facts == _native.inspect_library(bytes(library))


def test_text_relocations(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so", TEXT_RELOCATION, (), ("-Wl,-z,notext",))
    assert _native.inspect_library(library).text_relocations


def test_a_library_for_another_machine(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "libx.so", "libx.so")
    content = bytearray(library.read_bytes())
    content[18:20] = (8).to_bytes(2, "little")  # EM_MIPS
    library.write_bytes(content)
    (damage,) = _native.inspect_library(library).damages
    assert "library for another machine" in damage


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF", b"\x7fELF" + bytes(100)])
def test_what_is_no_library(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(content)
    with pytest.raises(BadLibraryError, match="libx"):
        _native.inspect_library(path)
    with pytest.raises(LibraryNotFoundError):
        _native.inspect_library(tmp_path / "nothing")


def test_host_packages_are_complete() -> None:
    rows = _native.host_packages()
    assert len({row[0] for row in rows}) == len(rows) > 10
    assert all(all(cell and " " not in cell for cell in row) for row in rows)
