"""The GPUs for which libraries have code: libraries, loose files, archives, databases."""

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from other_user import OtherUser
from sample_device_code import (
    HIPK,
    bundle,
    code_object,
    compressed,
    kernel_index,
    kpack,
    library,
    message,
    objects,
)
from system_calls import opened

import rocm_sdk
from rocm_sdk import GpuCoverage, LibraryAccessError, LibraryNotFoundError, UnknownTargetError, coverage

GENERIC_11 = code_object(0x54 | 1 << 24, abi=4)
MARKER = {"kernel_name": "lib/libsplit.so", "kpack_search_paths": ["../.kpack/blas_@GFXARCH@.kpack"]}


def on(directory: Path, gpu: str, name: str, *, unofficial: bool = False) -> GpuCoverage:
    found = coverage([gpu], directory, unofficial=unofficial)
    assert found.faults == ()
    (row,) = [each for each in found.libraries if each.name == name]
    return row.gpus[0]


def verdict(directory: Path, gpu: str, name: str, **options: bool) -> str:
    return on(directory, gpu, name, **options).verdict


def entries(**images: bytes) -> Mapping[str, bytes]:
    names = {name: name.replace("_generic", "-generic") for name in images}
    return {f"hipv4-amdgcn-amd-amdhsa--{names[name]}": image for name, image in images.items()}


def write(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    directory = tmp_path / "lib"
    directory.mkdir()
    return directory


def test_one_library(tmp_path: Path, lib: Path) -> None:
    content = bundle(objects("gfx1030", "gfx90a:xnack-"))
    library(lib / "libblas.so.4", [content, compressed(content, 3)])
    assert verdict(tmp_path, "gfx1030", "blas") == "exact"
    assert verdict(tmp_path, "gfx90a:sramecc+:xnack-", "blas") == "compatible"
    missing = on(tmp_path, "gfx1151", "blas")
    assert (missing.verdict, missing.lack, missing.covered, missing.total) == ("none", "processor", 0, 2)
    wrong_mode = on(tmp_path, "gfx90a:sramecc+:xnack+", "blas")
    assert (wrong_mode.verdict, wrong_mode.lack) == ("none", "mode")
    assert verdict(tmp_path, "gfx1031", "blas") == "none"
    assert verdict(tmp_path, "gfx1031", "blas", unofficial=True) == "best effort"
    (row,) = coverage(["gfx1030"], tmp_path).libraries
    assert row.files == (str(lib / "libblas.so.4"),)
    assert row.size == (lib / "libblas.so.4").stat().st_size
    assert [(each.target, each.image_count) for each in row.targets] == [("gfx90a:xnack-", 2), ("gfx1030", 2)]
    assert row.plain_size == 800


def test_a_gpu_whose_mode_is_open(tmp_path: Path, lib: Path) -> None:
    library(lib / "liba.so", [bundle(objects("gfx90a:xnack-"))])
    library(lib / "libb.so", [bundle(objects("gfx90a:xnack-", "gfx90a:xnack+"))])
    half = on(tmp_path, "gfx90a", "a")
    assert (half.verdict, half.lack) == ("compatible", "mode")
    assert half.uncovered_modes == ("gfx90a:sramecc-:xnack+", "gfx90a:sramecc+:xnack+")
    assert on(tmp_path, "gfx90a", "b").uncovered_modes == ()
    assert on(tmp_path, "gfx90a:xnack+", "b").verdict == "compatible"


def test_the_worst_bundle_counts(tmp_path: Path, lib: Path) -> None:
    exact, generic = entries(gfx1151=code_object(0x4A)), entries(gfx11_generic=GENERIC_11)
    library(lib / "liba.so", [bundle(exact), bundle(generic)])
    library(lib / "libb.so", [bundle(exact), bundle(objects("gfx1030"))])
    library(lib / "libc.so", [bundle({**exact, **generic})])
    assert verdict(tmp_path, "gfx1151", "a") == "generic"
    for first, second in ((exact, generic), (generic, exact)):  # the worst of two files decides
        library(lib / "libe.so.1", [bundle(first)])
        library(lib / "libe.so.2", [bundle(second)])
        assert verdict(tmp_path, "gfx1151", "e") == "generic"
    part = on(tmp_path, "gfx1151", "b")
    assert (part.verdict, part.lack, part.covered, part.total) == ("exact", "processor", 1, 2)
    assert verdict(tmp_path, "gfx1151", "c") == "exact"
    old = entries(gfx11_generic=code_object(0x54, abi=4))
    library(lib / "libd.so", [bundle(old)])
    assert on(tmp_path, "gfx1151", "d").lack == "generic version"


def test_spirv_is_compiled_at_first_use(tmp_path: Path, lib: Path) -> None:
    spirv = {"hip-spirv64-amd-amdhsa--amdgcnspirv": b"\x03\x02\x23\x07" + bytes(60)}
    library(lib / "liba.so", [bundle(spirv)])
    assert verdict(tmp_path, "gfx1201", "a") == "compiled at first use"


def test_code_that_is_no_code(tmp_path: Path, lib: Path) -> None:
    """An empty entry and bitcode run on no GPU."""
    images = {"hipv4-amdgcn-amd-amdhsa--gfx1030": b"", "hip-amdgcn-amd-amdhsa--gfx1151": b"BC\xc0\xde" + bytes(60)}
    library(lib / "liba.so", [bundle({**images, **objects("gfx942")})])
    for gpu in ("gfx1030", "gfx1151"):
        assert verdict(tmp_path, gpu, "a") == "none"


def test_a_library_that_loads_and_has_no_kernels(tmp_path: Path, lib: Path) -> None:
    """The shared object has code of its own for the GPU; its kernels lie in files, and none is for it."""
    library(lib / "libhipblaslt.so.1", [bundle(objects("gfx1030", "gfx942"))])
    kernels = lib / "hipblaslt/library"
    write(kernels / "Kernels.so-000-gfx942.hsaco", code_object(0x54C, size=64))
    write(kernels / "TensileLibrary_gfx942.dat", kernel_index({"gfx942": []}))
    found = on(tmp_path, "gfx1030", "hipblaslt")
    assert (found.verdict, found.lack, found.covered, found.total) == ("none", "processor", 1, 2)
    assert verdict(tmp_path, "gfx942", "hipblaslt") == "compatible"
    (row,) = coverage(["gfx942"], tmp_path).libraries
    assert [Path(name).name for name in row.files] == ["Kernels.so-000-gfx942.hsaco", "libhipblaslt.so.1"]


def test_loose_files_are_found_by_name_and_judged_by_content(tmp_path: Path, lib: Path) -> None:
    library(lib / "librocblas.so.4", [bundle(objects("gfx1030", "gfx90a"))])
    kernels = lib / "rocblas/library"
    for mode, sign in (("+", 0x73F), ("-", 0x63F)):
        write(kernels / f"Kernels.so-000-gfx90a-xnack{mode}.hsaco", code_object(sign, size=64))
    write(kernels / "TensileLibrary_lazy_gfx90a.dat", kernel_index({"gfx90a": []}))
    assert on(tmp_path, "gfx90a", "rocblas").uncovered_modes == ()
    write(kernels / "gfx1030/TensileLibrary.co", bundle(objects("gfx1030")))
    without_index = on(tmp_path, "gfx1030", "rocblas")
    assert (without_index.verdict, without_index.lack) == ("none", "index")
    write(kernels / "gfx1030/TensileLibrary.dat", kernel_index({"gfx1030": []}))
    assert verdict(tmp_path, "gfx1030", "rocblas") == "exact"
    write(kernels / "Kernels.so-000-gfx1100.hsaco", code_object(0x36, size=64))
    write(kernels / "TensileLibrary_lazy_gfx1100.dat", kernel_index({"gfx1100": []}))
    library(lib / "librocblas.so.4", [bundle(entries(gfx1100=code_object(0x41)))])
    assert verdict(tmp_path, "gfx1100", "rocblas") == "none"


@pytest.mark.parametrize("place", ["rocblas/library", "rocblas/4.4.1/library", "rocblas/4.4.1/library/gfx1030"])
def test_loose_files_belong_to_their_library(tmp_path: Path, lib: Path, place: str) -> None:
    """Debian has the library's version in the path."""
    library(lib / "librocblas.so.4", [bundle(objects("gfx1030"))])
    write(lib / place / "Kernels.so-000-gfx1030.hsaco", code_object(0x36, size=64))
    assert [row.name for row in coverage(["gfx1030"], tmp_path).libraries] == ["rocblas"]


def test_a_library_for_each_target(tmp_path: Path, lib: Path) -> None:
    library(lib / "libCK_gfx942.so.1", [bundle(objects("gfx942"))])
    library(lib / "libCK_gfx1030.so.1", [bundle(objects("gfx1030"))])
    for gpu in ("gfx1030", "gfx942:sramecc+:xnack-"):
        assert verdict(tmp_path, gpu, "CK") in ("exact", "compatible")
    assert on(tmp_path, "gfx90a:sramecc+:xnack-", "CK").lack == "processor"


def test_miopen_compiles(tmp_path: Path, lib: Path) -> None:
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o", lib / "libMIOpen.so.1"], check=True)
    for name in ("gfx942130.db.txt", "gfx90a6e.fdb.txt", "gfx1030_36.kdb", "notes.txt"):
        write(tmp_path / "share/miopen/db" / name)
    for gpu, has in (("gfx942", True), ("gfx90a:xnack-", True), ("gfx1030", True), ("gfx1151", False)):
        found = on(tmp_path, gpu, "MIOpen")
        assert (found.verdict, found.database) == ("compiled at first use", has)


def test_libraries_without_code(tmp_path: Path, lib: Path) -> None:
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o", lib / "libhost.so.1"], check=True)
    write(lib / "libscript.so", b"INPUT(libhost.so.1)")
    write(tmp_path / "bin/tool", b"#!/bin/sh\n").chmod(0o755)
    (lib / "libhost.so").symlink_to("libhost.so.1")
    (row,) = coverage(["gfx1030"], tmp_path).libraries
    assert (row.name, row.gpus[0].verdict) == ("host", "not needed")


def test_links(tmp_path: Path, lib: Path) -> None:
    """A file counts once, under its own name if it has one; a directory to which a link leads is not searched."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    library(lib / "liba.so.1", [bundle(objects("gfx1030"))])
    library(elsewhere / "libb.so.1", [bundle(objects("gfx1030"))])
    (lib / "aa.so").symlink_to("liba.so.1")
    (lib / "libb.so").symlink_to(elsewhere / "libb.so.1")
    (lib / "loop").symlink_to(lib)
    (lib / "libgone.so").symlink_to("nowhere")
    found = coverage(["gfx1030"], lib)
    assert [(each.name, each.files) for each in found.libraries] == [
        ("a", (str(lib / "liba.so.1"),)),
        ("b", (str(lib / "libb.so"),)),
    ]


def split_library(lib: Path, marker: Mapping[str, object] = MARKER) -> None:
    text = "".join(f"\\x{byte:02x}" for byte in message(dict(marker)))
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    library(lib / "libsplit.so", [bundle(objects("gfx942"))], magic=HIPK, more=section)


def test_archives(tmp_path: Path, lib: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_library(lib)
    missing = on(tmp_path, "gfx942:sramecc+:xnack-", "split")
    assert (missing.verdict, missing.lack) == ("none", "archive")
    assert missing.detail == f"{lib}/../.kpack/blas_gfx942.kpack"
    archive = tmp_path / ".kpack/blas_gfx942.kpack"
    write(archive, kpack({"lib/libother.so#0": {"gfx942": code_object(0x54C)}}))
    foreign = on(tmp_path, "gfx942:sramecc+:xnack-", "split")
    assert (foreign.verdict, foreign.lack, foreign.detail) == ("none", "kernels", f"{lib}/../.kpack/blas_gfx942.kpack")
    write(archive, kpack({"lib/libsplit.so#0": {"gfx942": code_object(0x54C)}}))
    assert verdict(tmp_path, "gfx942:sramecc+:xnack-", "split") == "compatible"
    assert verdict(tmp_path, "gfx950", "split") == "none"
    write(tmp_path / ".kpack/blas_gfx9-4-generic.kpack", kpack({"lib/libsplit.so#0": {"gfx9-4-generic": b"x" * 64}}))
    assert verdict(tmp_path, "gfx950", "split") == "generic"
    for value, has_code in (("1", False), ("0", True), ("", True), ("yes", False)):
        monkeypatch.setenv("ROCM_KPACK_DISABLE", value)
        found = on(tmp_path, "gfx950", "split")
        assert (found.verdict == "generic", found.detail) == (has_code, None if has_code else "ROCM_KPACK_DISABLE")
    monkeypatch.delenv("ROCM_KPACK_DISABLE")
    monkeypatch.setenv("ROCM_KPACK_PATH", str(tmp_path / "nowhere"))
    assert on(tmp_path, "gfx950", "split").lack == "archive"
    monkeypatch.setenv("ROCM_KPACK_PATH", f"{tmp_path}/nowhere:{archive}")
    assert verdict(tmp_path, "gfx942", "split") == "compatible"
    monkeypatch.delenv("ROCM_KPACK_PATH")
    own = write(tmp_path / "own.kpack", kpack({"lib/libsplit.so#0": {"gfx950": b"x" * 64}}))
    monkeypatch.setenv("ROCM_KPACK_PATH_PREFIX", str(own))
    assert verdict(tmp_path, "gfx950", "split") == "compatible"


def split_in_two(lib: Path, *search_paths: str) -> None:
    """Write a library with two bundles, whose wrappers have the numbers 0 and 1."""
    marker = {"kernel_name": "lib/libsplit.so", "kpack_search_paths": list(search_paths)}
    text = "".join(f"\\x{byte:02x}" for byte in message(marker))
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    content = bundle(objects("gfx942"))
    path = library(lib / "libsplit.so", [content, content], magic=HIPK, more=section)
    data = path.read_bytes()
    second = data.rindex(HIPK.to_bytes(4, "little") + (1).to_bytes(4, "little"))
    path.write_bytes(data[: second + 16] + (1).to_bytes(8, "little") + data[second + 24 :])


def test_each_bundle_is_looked_up_by_itself(tmp_path: Path, lib: Path) -> None:
    split_in_two(lib, "../.kpack/blas_@GFXARCH@.kpack", "../.kpack/more_@GFXARCH@.kpack")
    image = {"gfx942": code_object(0x54C)}
    first, second = tmp_path / ".kpack/blas_gfx942.kpack", tmp_path / ".kpack/more_gfx942.kpack"
    write(first, kpack({"lib/libsplit.so#0": image}))
    half = on(tmp_path, "gfx942", "split")
    assert (half.verdict, half.lack, half.covered, half.total, half.late) == ("compatible", "kernels", 1, 2, 0)
    write(second, kpack({"lib/libsplit.so#1": image}))
    late = on(tmp_path, "gfx942", "split")
    assert (late.verdict, late.lack, late.covered, late.total, late.late) == ("compatible", None, 2, 2, 1)
    first.unlink()
    other = on(tmp_path, "gfx942", "split")
    assert (other.covered, other.total, other.late) == (1, 2, 0)
    write(first, kpack({"lib/libsplit.so#0": image, "lib/libsplit.so#1": image}))
    whole = on(tmp_path, "gfx942", "split")
    assert (whole.covered, whole.total, whole.late) == (2, 2, 0)
    write(first, kpack({"lib/libsplit.so": image}))
    assert on(tmp_path, "gfx942", "split").covered == 2


def test_an_archive_for_one_mode(tmp_path: Path, lib: Path) -> None:
    split_library(lib)
    content = kpack({"lib/libsplit.so#0": {"gfx90a:xnack+": code_object(0x73F)}})
    write(tmp_path / ".kpack/blas_gfx90a:xnack+.kpack", content)
    found = on(tmp_path, "gfx90a", "split")
    assert (found.verdict, found.lack) == ("compatible", "archive")
    assert found.uncovered_modes == ("gfx90a:sramecc-:xnack-", "gfx90a:sramecc+:xnack-")


def test_an_archive_of_old_tools(tmp_path: Path, lib: Path) -> None:
    """Keys without a number."""
    split_library(lib, {**MARKER, "kpack_search_paths": ["../all.kpack"]})
    write(tmp_path / "all.kpack", kpack({"lib/libsplit.so": {"gfx942": code_object(0x54C)}}))
    assert verdict(tmp_path, "gfx942", "split") == "compatible"
    write(tmp_path / "all.kpack", b"KPAK")
    found = coverage(["gfx942"], tmp_path)
    assert [fault.path for fault in found.faults] == [str(tmp_path / "all.kpack")]


def test_targets_that_no_gpu_uses(tmp_path: Path, lib: Path) -> None:
    library(lib / "libblas.so", [bundle(objects("gfx1030", "gfx90a:xnack-", "gfx942", size=1000))])
    found = coverage(["gfx1030", "gfx1100"], tmp_path)
    assert [(each.target, each.size, each.used) for each in found.targets] == [
        ("gfx90a:xnack-", 1000, False),
        ("gfx942", 1000, False),
        ("gfx1030", 1000, True),
    ]


def test_a_damaged_file_is_a_fault(tmp_path: Path, lib: Path) -> None:
    library(lib / "liba.so", [bundle(objects("gfx1030"))])
    library(lib / "libb.so", [bundle(objects("gfx1030"))])
    content = (lib / "libb.so").read_bytes()
    (lib / "libb.so").write_bytes(content[: len(content) // 2])
    write(lib / "x.hsaco", b"nothing of the kind")
    found = coverage(["gfx1030"], tmp_path)
    assert [each.name for each in found.libraries] == ["a"]
    assert [(each.path, each.code) for each in found.faults] == [
        (str(lib / "libb.so"), "E-LIB-006"),
        (str(lib / "x.hsaco"), "E-LIB-006"),
    ]
    assert all(each.path in each.message for each in found.faults)


def test_each_file_is_opened_once(tmp_path: Path, lib: Path) -> None:
    library(lib / "libblas.so.4", [bundle(objects("gfx1030"))])
    write(lib / "libscript.so", b"INPUT(libblas.so.4)")
    write(lib / "blas/library/kernels_gfx1030.hsaco", code_object(0x36))
    command = [sys.executable, "-c", "import sys; from rocm_sdk import coverage; coverage(['gfx1030'], sys.argv[1])"]
    found = opened([*command, str(tmp_path)], tmp_path, tmp_path / "calls")
    assert {Path(name).name for name in found} >= {"libblas.so.4", "libscript.so", "kernels_gfx1030.hsaco"}
    assert set(found.values()) == {1}


_FAULTS = """
import sys
import time
from rocm_sdk.fit.coverage import coverage
print([(fault.path, fault.code) for fault in coverage(["gfx1030"], sys.argv[1]).faults])
"""


def test_a_library_that_may_not_be_read_is_a_fault(other_user: OtherUser, open_directory: Path) -> None:
    """Asked as another user: the superuser may read everything."""
    path = library(open_directory / "liba.so", [bundle(objects("gfx1030"))])
    path.chmod(0)
    said = other_user.run("-c", _FAULTS, open_directory, check=True).stdout
    assert said == f"{[(str(path), 'E-FILE-007')]}\n"


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(UnknownTargetError, match="gfx942"):
        coverage(["gfx943"], tmp_path)
    with pytest.raises(LibraryNotFoundError, match="nowhere"):
        coverage(["gfx942"], tmp_path / "nowhere")
    deep = tmp_path
    for _ in range(130):
        deep /= "d"
    deep.mkdir(parents=True)
    with pytest.raises(LibraryAccessError, match="more than 128 deep"):
        coverage(["gfx942"], tmp_path)


def test_a_family_stands_for_its_targets(tmp_path: Path, lib: Path) -> None:
    library(lib / "liba.so", [bundle(objects("gfx1030"))])
    (row,) = coverage(["gfx103X-igpu", "gfx1030"], tmp_path).libraries
    assert [each.gpu for each in row.gpus] == ["gfx1033", "gfx1035", "gfx1036", "gfx1030"]


def test_types_have_public_names() -> None:
    for name in ("Coverage", "LibraryCoverage", "GpuCoverage", "CoveredTarget", "CoverageFault", "Compatibility"):
        assert getattr(rocm_sdk, name).__name__ == name


@pytest.mark.parametrize(
    ("first", "second"), [("hsa/{}/fmha/a.co", "hsa/{}/b.co"), ("k/{}/x/y/z.hsaco", "k/{}/x/w.co")]
)
def test_a_directory_for_each_target(tmp_path: Path, first: str, second: str) -> None:
    """A package opens the files below its own GPU's directory, at any depth, and names them as it likes."""
    for target, flags in (("gfx942", 0x54C), ("gfx1030", 0x36)):
        write(tmp_path / "pkg" / first.format(target), code_object(flags, size=64))
        write(tmp_path / "pkg" / second.format(target), code_object(flags, size=64))
    write(tmp_path / "pkg" / f"{Path(first).parts[0]}/gfx942/fmha/MI300/c.co", code_object(0x54C, size=64))
    owner = Path(first).parts[0]
    for gpu in ("gfx942", "gfx1030"):
        assert [row.name for row in coverage([gpu], tmp_path).libraries] == [owner]
        assert verdict(tmp_path, gpu, owner) in ("exact", "compatible")
    assert on(tmp_path, "gfx1100", owner).lack == "processor"
    # code for another target in the directory of one serves neither
    write(tmp_path / "other/gfx1100/a.co", code_object(0x36, size=64))
    assert verdict(tmp_path, "gfx1030", "other") == verdict(tmp_path, "gfx1100", "other") == "none"


def test_a_directory_of_libraries_for_each_target(tmp_path: Path) -> None:
    for target in ("gfx942", "gfx1030"):
        (tmp_path / "native" / target / "same").mkdir(parents=True)
        library(tmp_path / "native" / target / "same/libx.so", [bundle(objects(target))])
    assert [verdict(tmp_path, gpu, "x") for gpu in ("gfx942", "gfx1030", "gfx1100")] == ["compatible", "exact", "none"]


@pytest.mark.parametrize("section", [".rodata", ".data", ".data.rel.ro"])
def test_code_objects_among_constants(tmp_path: Path, lib: Path, section: str) -> None:
    """Mojo's compiler puts them there. A file with wrappers of HIP has its code where these say."""
    among = "\n".join(
        (
            f'.section {section},"a{"w" if section != ".rodata" else ""}",@progbits',
            ".skip 262140, 1",  # the search reads 262,144 bytes at a time
            f'.incbin "{write(tmp_path / "a.bin", code_object(0x36))}"',
            f'.incbin "{write(tmp_path / "cut.bin", code_object(0x36)[:20])}"',
            f'.incbin "{write(tmp_path / "b.bin", code_object(0x54C))}"',
        )
    )
    path = library(lib / "libmojo.so", [], more=among)
    images = [(each.section, image.target) for each in rocm_sdk.device_code(path).bundles for image in each.images]
    assert images == [(section, "gfx1030"), (section, "gfx942")]
    assert [verdict(lib, gpu, "mojo") for gpu in ("gfx942", "gfx1030", "gfx1100")] == ["compatible", "exact", "none"]
    library(lib / "libhip.so", [bundle(objects("gfx1030"))], more=among)
    assert verdict(lib, "gfx942", "hip") == "none"
    (lib / "libhsa-runtime64.so.1").write_bytes(path.read_bytes())  # as ROCr has its own, for images
    assert verdict(lib, "gfx1100", "hsa-runtime64") == "not needed"


@pytest.mark.parametrize("size", [8, 20, 64])
def test_a_file_that_looks_like_many_code_objects(tmp_path: Path, size: int) -> None:
    """It is read once, and refused where it has more objects than any library does."""
    (content := tmp_path / "content").write_bytes(code_object(0x36)[:size] * ((8 << 20) // size))
    path = library(tmp_path / "liba.so", [], more=f'.section .rodata,"a",@progbits\n.incbin "{content}"')
    before = time.process_time()
    try:
        assert not rocm_sdk.device_code(path).targets
    except rocm_sdk.BadLibraryError as error:
        assert "than any library does" in error.message
    assert time.process_time() - before < 5
