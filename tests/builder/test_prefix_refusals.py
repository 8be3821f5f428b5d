"""`rocm-sdk-build prefix`: what is refused, and what only looks wrong."""

import os
from pathlib import Path

import pytest
from installed_rocm import Prefix
from prefix_packages import build, built, development, refused, small


@pytest.mark.slow
def test_two_different_files_for_one_place(tmp_path: Path) -> None:
    one, other = small(tmp_path / "one"), Prefix(tmp_path / "other")
    other.file("include/hip/hip_runtime.h", "1\n")
    one.file("include/hip/hip_runtime.h", "1\n")
    built(tmp_path / "same", one.root, other.root)
    one.file("include/hip/hip_runtime.h", "2\n")
    told = refused(tmp_path / "dist", one.root, other.root)
    for prefix in (one, other):
        assert f"{prefix.root}/include/hip/hip_runtime.h" in told
    assert "are different, and go to one place: include/hip/hip_runtime.h" in told


def test_two_different_texts_that_are_rewritten(tmp_path: Path) -> None:
    one, other = small(tmp_path / "one"), Prefix(tmp_path / "other")
    other.file("include/rocblas/rocblas.h", "x\n")
    paths = [prefix.file("lib/pkgconfig/x.pc", f"prefix=/usr\nName: {prefix.root}\n") for prefix in (one, other)]
    told = refused(tmp_path / "dist", one.root, other.root)
    assert f"{paths[0]} and {paths[1]} are different, and go to one place: lib/pkgconfig/x.pc" in told


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_and_a_directory_of_one_name(tmp_path: Path, kind: str) -> None:
    one, other = small(tmp_path / "one"), Prefix(tmp_path / "other")
    if kind == "file":
        one.file("lib/rocblas", "x\n")
    else:
        one.file("share/rocblas/x", "x\n")
        one.link("lib/rocblas", "../share/rocblas")
    path = other.file("lib/rocblas/x.dat", "x\n")
    other.file("include/rocblas/rocblas.h", "x\n")
    told = refused(tmp_path / "dist", one.root, other.root)
    assert f"goes to lib/rocblas, and {path} below it, to lib/rocblas/x.dat" in told


def test_two_host_libraries_of_one_soname(tmp_path: Path) -> None:
    roots = [Prefix(tmp_path / name) for name in ("a", "b")]
    z = [root.library("lib/libz.so.1.2", flags=(f"-Wl,--defsym,x{i}=1",)) for i, root in enumerate(roots)]
    prefix = Prefix(tmp_path / "rocm")
    prefix.library("lib/libamdhip64.so.7.1", z[0])
    prefix.library("lib/librocrand.so.1.1")
    told = refused(tmp_path / "dist", prefix.root, *(root.root for root in roots))
    assert f"{z[0]} and {z[1]} have one SONAME, and {prefix.root}/lib/libamdhip64.so.7.1 needs one of them" in told


@pytest.mark.slow
def test_roots_that_are_wrong(rocm: Prefix, tmp_path: Path) -> None:
    output = tmp_path / "dist"
    assert f"{tmp_path}/none: there is no such directory" in refused(output, tmp_path / "none", status=2)
    (tmp_path / "empty").mkdir()
    assert f"{tmp_path}/empty: no library of ROCm is there" in refused(output, tmp_path / "empty")
    assert not output.exists()
    (tmp_path / "file").touch()
    assert f"{tmp_path}/file: is not a directory" in refused(output, tmp_path / "file")
    assert "no root is given" in refused(output, status=2)
    told = refused(output, rocm.root, rocm.root / "lib/llvm")
    assert f"{rocm.root}/lib/llvm: is a part of {rocm.root}, which is a root, too" in told
    system = small(tmp_path / "system/usr")
    system.file("lib/os-release", "ID=x\n")
    for root in (system.root, system.root.parent):
        told = refused(output, root)
        assert f"{root}: is a whole system, not just ROCm" in told
        assert "dpkg -L" in told


def test_llvm_that_is_none(rocm: Prefix, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", rocm.root):
        told = refused(tmp_path / "dist", rocm.root, "--llvm", path)
        assert f"--llvm {path}: has no bin/clang" in told
    told = refused(tmp_path / "dist", rocm.root, "--llvm", rocm.root / "lib/llvm")
    assert f"{rocm.root}/lib/llvm: is a part of {rocm.root}, which is a root, too" in told


@pytest.mark.slow
def test_options_that_are_wrong(rocm: Prefix, tmp_path: Path) -> None:
    output = tmp_path / "dist"
    for version in ("7.1.2'); import os", "latest", "v7.1"):
        assert "version" in refused(output, rocm.root, version=version)
    assert "gfx94Y" in refused(output, rocm.root, "--families", "gfx94Y", status=2)
    assert "--families names none" in refused(output, rocm.root, "--families", ",")
    assert "--version-suffix" in refused(output, rocm.root, "--version-suffix", "a/b")
    done = build(output, rocm.root, "--families", "gfx90a", "--split")
    assert done.returncode == 2
    rules = tmp_path / "rules.txt"
    for line, told in (
        ("take nucleus lib/**", "'nucleus' is none of core, libraries, device, profiler, devel"),
        ("rewrite any *.cmake ( x", "'(' cannot be replaced by 'x'"),
        ("rewrite never *.cmake a x", "'never' is none of any, moved"),
        ("place lib", "is not a rule"),
    ):
        rules.write_text(f"{line}\n")
        assert f"{rules}:1: " in (error := refused(output, rocm.root, "--rules", rules))
        assert told in error


@pytest.mark.slow
def test_lists_that_are_wrong(rocm: Prefix, tmp_path: Path) -> None:
    output = tmp_path / "dist"
    listed = tmp_path / "list"
    for text, told in (
        (f"{rocm.root}/lib\n{rocm.root}/gone.so\n", f"{listed}:2: {rocm.root}/gone.so: there is no such file"),
        ("package zlib is not installed\n", f"{listed}:1: 'package zlib is not installed' is not an absolute path"),
        ("usr/lib/libz.so\n", f"{listed}:1: 'usr/lib/libz.so' is not an absolute path"),
        ("\n\n", f"{listed}: the list names no file"),
        ("/etc/passwd\n", f"nothing that is listed is in {rocm.root}"),
    ):
        listed.write_text(text)
        assert told in refused(output, rocm.root, "--files", listed)
    assert "the list cannot be read" in refused(output, rocm.root, "--files", tmp_path / "none")
    listed.write_text("/usr/lib\n/usr/bin\n/usr\n")
    assert "is a whole system" in refused(output, "--files", listed)


@pytest.mark.parametrize("name", [b"a\nb", b"a\\b", b"\xff"])
def test_hostile_names(tmp_path: Path, name: bytes) -> None:
    prefix = small(tmp_path / "rocm")
    odd = prefix.root / "lib" / os.fsdecode(name)
    odd.touch()
    told = refused(tmp_path / "dist", prefix.root)
    assert "wheels have no names" in told or "not UTF-8" in told
    (tmp_path / "list").write_bytes(os.fsencode(odd) + b"\n")
    refused(tmp_path / "dist", prefix.root, "--files", tmp_path / "list")


def test_names_that_look_dangerous(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    names = {"share/a,b.txt", 'share/a"b.txt', "share/a b.txt", "share/'; import os.txt"}
    for name in names:
        prefix.file(name, "x\n")
    built(tmp_path / "dist", prefix.root)
    assert names <= development(tmp_path / "dist").keys()


def test_a_pointer_of_git_lfs(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    pointer = prefix.file("lib/librocblas.so.5", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert f"{pointer}: is a pointer of Git LFS" in refused(tmp_path / "dist", prefix.root)
