"""Libraries that ask for an executable stack by mistake do not in packages; those whose code needs one still do."""

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from installed_rocm import usual_rocm
from small_debian import Archive, compile_library, install

from rocm_sdk import _native

pytestmark = pytest.mark.slow

FLAG = "-Wl,-z,execstack"  # the linker sets it, too, for an object without .note.GNU-stack
NESTED = """
int call(int (*function)(int), int x) { return function(x); }
int outer(int k, int x) { int inner(int y) { return y + k; } return call(inner, x); }
"""
CLEARED = (
    "these no longer ask for an executable stack, which glibc 2.41 refuses (--keep-execstack):\n"
    "  {}: none of its code writes trampolines onto the stack\n"
)
NEEDED = "an executable stack is asked for, and needed: the code writes trampolines onto it:\n  {}\n"


def run(*words: str | Path) -> str:
    """Run a build that works, and return its standard error."""
    done = build_command(*words)
    assert done.returncode == 0, done.stderr
    return done.stderr


def asks(dist: Path, library: str, directory: Path) -> bool:
    """Return whether a library of a wheel asks for an executable stack."""
    (wheel,) = dist.glob(f"{library.partition('/')[0].removeprefix('_')}-*.whl")
    return _native.inspect_library(zipfile.ZipFile(wheel).extract(library, directory)).executable_stack


def nested(path: Path) -> None:
    command = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libnested.so.1", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=NESTED, text=True, check=True, stderr=subprocess.DEVNULL)


@pytest.fixture
def tree(tmp_path: Path) -> ArtifactTree:
    tree = usual_tree(tmp_path / "artifacts")
    tree.library("core-hip_lib_generic", "lib/libflag.so.1", "libflag.so.1", flags=(FLAG,))
    nested(tree.place("blas_lib_generic", "lib/libnested.so.1"))
    return tree


def test_artifacts(tree: ArtifactTree, tmp_path: Path) -> None:
    words = ("artifacts", tree.root, "--version", "7.10.0", "--no-check", "--no-loader", "--output")
    told = run(*words, tmp_path / "one")
    flag, nested = "_rocm_sdk_core/lib/libflag.so.1", "_rocm_sdk_libraries/lib/libnested.so.1"
    assert f"rocm-sdk-core: {CLEARED.format('lib/libflag.so.1')}" in told
    assert f"rocm-sdk-libraries: {NEEDED.format('lib/libnested.so.1')}" in told
    assert not asks(tmp_path / "one", flag, tmp_path)
    assert asks(tmp_path / "one", nested, tmp_path)
    assert run(*words, tmp_path / "two", "--keep-execstack") == ""
    assert asks(tmp_path / "two", flag, tmp_path)
    assert _native.inspect_library(tree.root / "core-hip_lib_generic/x/stage/lib/libflag.so.1").executable_stack


def test_prefix(tmp_path: Path) -> None:
    prefix = usual_rocm(tmp_path / "rocm")
    prefix.library("lib/libhipfile.so.1.2", flags=(FLAG,))
    words = ("prefix", prefix.root, "--version", "7.1.2", "--no-check", "--no-loader", "--output")
    assert f"rocm-sdk-core: {CLEARED.format('lib/libhipfile.so.1')}" in run(*words, tmp_path / "one")
    assert not asks(tmp_path / "one", "_rocm_sdk_core/lib/libhipfile.so.1", tmp_path)
    assert "executable stack" not in run(*words, tmp_path / "two", "--keep-execstack")
    assert asks(tmp_path / "two", "_rocm_sdk_core/lib/libhipfile.so.1", tmp_path)


@pytest.mark.parametrize("shape", ["none", "rpath"])
def test_debian(
    archive: Archive, make_wheels: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, shape: str
) -> None:
    library = compile_library(tmp_path / "comgr", "libamd_comgr.so.2", options=[FLAG])
    archive.add("libamd-comgr2", (), {"usr/lib/any-linux-gnu/libamd_comgr.so.2.4": library})
    archive.publish()
    name = "_rocm_sdk_core/lib/libamd_comgr.so.2"
    for number in range(2):  # in two places
        done = make_wheels(shape, "--output", str(tmp_path / str(number)))
        assert done.stderr.endswith(f"rocm-sdk-core: {CLEARED.format('lib/libamd_comgr.so.2')}")
        site = install(map(Path, done.stdout.splitlines()), tmp_path / f"site{number}")
        assert not _native.inspect_library(site / name).executable_stack
    done = make_wheels(shape, "--keep-execstack")
    assert "executable stack" not in done.stderr
    site = install(map(Path, done.stdout.splitlines()), tmp_path / "kept")
    assert _native.inspect_library(site / name).executable_stack
    assert _native.inspect_library(library).executable_stack
