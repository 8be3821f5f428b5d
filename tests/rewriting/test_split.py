"""Libraries that are split from their code: HIP's way to it, walked anew, ends at the same code objects."""

import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from message_pack import unpack
from sample_code_libraries import FORMS, PACKED, PLAIN, SIZE, TARGETS, build, content
from sample_device_code import BUNDLE_MAGIC, FLAGS, HOST, bundle, code_object, compressed, library, objects

from rocm_sdk import RewriteError, coverage, device_code
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.fit.code.note import describe_history, read_history
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
from rocm_sdk_build.code.split import CodeArchives, Place, split_file

zstd = import_zstd()

PLACE = Place("lib/libx.so.1", "../.kpack/math_@GFXARCH@.kpack")


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for name in ("lib", ".kpack"):
        (tmp_path / "prefix" / name).mkdir(parents=True)
    return tmp_path / "prefix"


def split(path: Path, prefix: Path, is_compressed: bool = False) -> tuple[Path, list[Path]]:
    """Split a library, and return the new library and the archives."""
    output = prefix / "lib" / path.name
    with CodeArchives(str(prefix / ".kpack"), "math", is_compressed) as archives:
        split_file(str(path), str(output), PLACE, archives)
        made = archives.finish()
    assert {Path(each).name for each in made.values()} == {f"math_{processor}.kpack" for processor in made}
    return output, [Path(each) for each in made.values()]


def kernels(paths: Iterable[Path]) -> dict[tuple[str, str], bytes]:
    """Return the content of archives: (key, target) -> code object.

    Our writer and reader have no part in it.
    """
    found = {}
    for path in paths:
        data = path.read_bytes()
        magic, version, start = struct.unpack_from("<4sIQ", data)
        assert (magic, version, data[16:64]) == (b"KPAK", 1, bytes(48))
        contents = unpack(data[start:])
        assert isinstance(contents, dict)
        frames = blobs(data, contents)
        for key, targets in contents["toc"].items():
            for target, entry in targets.items():
                assert target in contents["gfx_arches"]
                assert len(frames[entry["ordinal"]]) == entry["original_size"]
                found[key, target] = frames[entry["ordinal"]]
    return found


def blobs(data: bytes, contents: dict[str, object]) -> list[bytes]:
    places = contents.get("blobs")
    if isinstance(places, list):
        return [data[each["offset"] : each["offset"] + each["size"]] for each in places]
    assert contents["compression_scheme"] == "zstd-per-kernel"
    position = contents["zstd_offset"]
    assert isinstance(position, int)
    (count,) = struct.unpack_from("<I", data, position)
    found, start = [], position
    position += 4
    for _ in range(count):
        (size,) = struct.unpack_from("<I", data, position)
        found.append(zstd.decompress(data[position + 4 : position + 4 + size]))
        position += 4 + size
    assert position - start == contents["zstd_size"]
    return found


CHECK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.bundle_of.restype = ctypes.c_void_p
library.name.restype = ctypes.c_char_p
assert [library.name(i) for i in range(4)] == [b"a", b"b", b"c", b"d"]
assert library.thrown(1) == 42 and library.thrown(1) == 43
class Wrapper(ctypes.Structure):
    _fields_ = [("magic", ctypes.c_char * 4), ("version", ctypes.c_uint32), ("marker", ctypes.c_void_p),
                ("number", ctypes.c_uint64)]
marker = bytes.fromhex(sys.argv[2])
for number, wrapper in enumerate((Wrapper * 3).in_dll(library, "wrappers")):
    assert (wrapper.magic, wrapper.version, wrapper.number) == (b"HIPK", 1, number), number
    assert ctypes.string_at(wrapper.marker, len(marker)) == marker, number
"""


def works(path: Path) -> None:
    """Check that a library loads, unwinds, has its thread-local data, and that its wrappers lead to the marker."""
    subprocess.run([sys.executable, "-c", CHECK, str(path), PLACE.marker().hex()], check=True)


def test_marker() -> None:
    assert unpack(PLACE.marker()) == {"kernel_name": PLACE.name, "kpack_search_paths": [PLACE.archives]}


@pytest.mark.parametrize("bundles", [PLAIN, PACKED], ids=["plain", "packed"])
@pytest.mark.parametrize("form", [form for form in FORMS if not form.startswith("program")])
def test_what_is_where(tmp_path: Path, prefix: Path, form: str, bundles: list[bytes]) -> None:
    path = build(tmp_path, form, bundles)
    before = path.read_bytes()
    output, archives = split(path, prefix, bundles is PACKED)
    assert path.read_bytes() == before
    assert output.stat().st_size < len(before)
    data = output.read_bytes()
    assert BUNDLE_MAGIC not in data
    assert b"CCOB" not in data
    found = device_code(output)
    assert (found.bundles, found.kernel_name, found.kpack_paths) == ((), PLACE.name, (PLACE.archives,))
    history = describe_history(read_history(found.history or ""))
    assert history.startswith(f"split {', '.join(sorted(TARGETS))}; made of")
    works(output)
    expected = {}
    for number in range(3):
        for name, image in content(number).items():
            expected[f"{PLACE.name}#{number}", name.partition("--")[2]] = image
    assert kernels(archives) == expected
    for name in ("strip", "objcopy", "llvm-strip", "eu-strip"):
        changed = tmp_path / name / path.name
        changed.parent.mkdir()
        words = ["--strip-debug", output, changed] if name == "objcopy" else [output, "-o", changed]
        subprocess.run([name, *words], check=True)
        works(changed)


def test_a_program(tmp_path: Path, prefix: Path) -> None:
    output, archives = split(build(tmp_path, "program", PLAIN), prefix)
    assert subprocess.run([output], check=False).returncode == 1  # it starts, and says that its wrappers lead elsewhere
    assert len(kernels(archives)) == 3 * len(TARGETS)


def test_gpus_find_what_they_found(tmp_path: Path, prefix: Path) -> None:
    """By the loader's own judgement, before and after."""
    contents = [objects("gfx90a:xnack-", "gfx90a:xnack+", "gfx1030"), objects("gfx90a", "gfx942")]
    (tmp_path / "before").mkdir()
    path = library(tmp_path / "before/libx.so.1", [bundle(each) for each in contents])
    output, archives = split(path, prefix)
    gpus = ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx1030", "gfx942:sramecc+:xnack-", "gfx1100"]

    def judged(library: Path) -> list[str]:
        (found,) = coverage(gpus, library.parent).libraries
        return [each.verdict for each in found.gpus]

    assert judged(output) == judged(path) == ["compatible", "compatible", "exact", "compatible", "none"]
    assert {path.name for path in archives} == {"math_gfx90a.kpack", "math_gfx1030.kpack", "math_gfx942.kpack"}
    archives[0].unlink()
    assert judged(output) != judged(path)


def test_several_libraries(tmp_path: Path, prefix: Path) -> None:
    with CodeArchives(str(prefix / ".kpack"), "math", is_compressed=False) as archives:
        for name in ("liba.so.1", "libb.so.2"):
            path = library(tmp_path / name, [bundle(objects("gfx942"))])
            place = Place(f"lib/{name}", PLACE.archives)
            split_file(str(path), str(prefix / "lib" / name), place, archives)
        made = archives.finish()
    assert kernels(map(Path, made.values())) == {
        (f"lib/{name}#0", "gfx942"): code_object(FLAGS["gfx942"]) for name in ("liba.so.1", "libb.so.2")
    }


def refused(prefix: Path, path: Path, why: str, is_compressed: bool = False) -> None:
    """Check that a split is refused: nothing is written, and nothing is added to archives."""
    with CodeArchives(str(prefix / ".kpack"), "math", is_compressed) as archives:
        with pytest.raises(RewriteError, match=why) as raised:
            split_file(str(path), str(prefix / "lib/libx.so.1"), PLACE, archives)
        assert raised.value.code == "E-CODE-010"
        assert archives.finish() == {}
    assert [each for each in prefix.rglob("*") if not each.is_dir()] == []


def test_what_is_refused(tmp_path: Path, prefix: Path) -> None:
    path = tmp_path / "libx.so.1"
    generic = {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic": code_object(0x5F)}
    refused(prefix, library(path, [bundle({**objects("gfx942"), **generic})]), "its code for gfx9-4-generic is not for")
    portable = {"hip-spirv64-amd-amdhsa--amdgcnspirv": b"\3\2\x23\7" + bytes(60)}
    refused(prefix, library(path, [bundle({**objects("gfx942"), **portable})]), "its code for .*spirv is not for one")
    twice = {**objects("gfx942"), "hip-amdgcn-amd-amdhsa--gfx942": code_object(FLAGS["gfx942"])}
    refused(prefix, library(path, [bundle(twice)]), "several codes for one target")
    refused(prefix, library(path, [bundle({HOST: b"code"})]), "no code for a GPU")
    damaged = bytearray(compressed(bundle(objects("gfx942", size=5000)), 3))
    damaged[24] ^= 1
    refused(prefix, library(path, [bytes(damaged)]), "libx.so.1")
    made = prefix.parent / "fewer"
    rewrite_file(str(library(path, [bundle(objects("gfx942", "gfx1030"))])), str(made), NewCode(("gfx942",)))
    output, archives = split(made, prefix)
    assert {target for _, target in kernels(archives)} == {"gfx942"}
    shutil.rmtree(prefix / ".kpack")
    (prefix / ".kpack").mkdir()
    with pytest.raises(RewriteError, match="no section of GPU code"):
        split(output, prefix)


def test_what_is_compared(tmp_path: Path, prefix: Path) -> None:
    """An archive that changes while it is written is found out."""
    path = library(tmp_path / "libx.so.1", [bundle(objects("gfx942", size=SIZE))])
    with CodeArchives(str(prefix / ".kpack"), "math", is_compressed=False) as archives:
        split_file(str(path), str(prefix / "lib/libx.so.1"), PLACE, archives)
        with (prefix / ".kpack/math_gfx942.kpack").open("r+b") as archive:
            archive.seek(1000)
            archive.write(b"changed")
        with pytest.raises(RewriteError, match=r"the code of lib/libx\.so\.1#0 for gfx942 differs"):
            archives.finish()
