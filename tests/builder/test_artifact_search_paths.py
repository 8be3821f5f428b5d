"""Search paths of libraries and programs in packages of artifacts."""

import subprocess
import zipfile
from pathlib import Path

import pytest
from artifact_packages import build, wheel
from artifact_tree import usual_tree

pytestmark = pytest.mark.slow


def rpath(archive: zipfile.ZipFile, name: str, directory: Path) -> str:
    path = archive.extract(name, directory)
    told = subprocess.check_output(["readelf", "-d", path], text=True)
    (line,) = (line for line in told.splitlines() if "(RPATH)" in line or "(RUNPATH)" in line)
    assert "(RPATH)" in line
    return line.partition("[")[2].rstrip("]")


def test_search_paths(kpack: Path, tmp_path: Path) -> None:
    core = "$ORIGIN/../../_rocm_sdk_core/lib"
    expected = {
        ("rocm_sdk_core", "_rocm_sdk_core/lib/libamdhip64.so.7"): f"$ORIGIN:{core}/llvm/lib:{core}/rocm_sysdeps/lib",
        ("rocm_sdk_libraries", "_rocm_sdk_libraries/lib/librocblas.so.5"): ":".join(
            ["$ORIGIN", *(f"{core}{each}" for each in ("", "/rocm_sysdeps/lib", "/host-math/lib", "/llvm/lib"))]
        ),
        ("rocm_sdk_core", "_rocm_sdk_core/lib/llvm/bin/clang-20"): ":".join(
            [
                "$ORIGIN/../..",
                *(f"$ORIGIN/../../../../_rocm_sdk_core/lib/{name}/lib" for name in ("llvm", "rocm_sysdeps")),
            ]
        ),
    }
    for (name, path), entries in expected.items():
        assert rpath(wheel(kpack, name), path, tmp_path) == entries


def test_libraries_without_search_path(tmp_path: Path) -> None:
    """Libraries without a search path find the libraries beside them.

    The check before the packages appear loads each library.
    """
    tree = usual_tree(tmp_path / "artifacts")
    runtime = tree.library("core-runtime_lib_generic", "lib/libhsa-runtime64.so.1", "libhsa-runtime64.so.1")
    user = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", str(runtime))
    tree.library("core-hip_lib_generic", "lib/libhiprtc.so.7", "libhiprtc.so.7", flags=user)
    tree.library("amd-llvm_lib_generic", "lib/llvm/lib/libomptarget.so", "libomptarget.so", flags=user)
    done = build(tree, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    core = "_rocm_sdk_core/lib"
    found = rpath(wheel(tmp_path / "dist", "rocm_sdk_core"), f"{core}/libhiprtc.so.7", tmp_path)
    assert found == f"$ORIGIN:$ORIGIN/../../{core}/llvm/lib:$ORIGIN/../../{core}/rocm_sysdeps/lib"


def test_a_need_of_core_that_another_package_meets(tmp_path: Path) -> None:
    """Which wheel is made first decides nothing: neither a warning nor the platform tag."""
    tree = usual_tree(tmp_path / "artifacts")
    blas = tree.library("blas_lib_generic", "lib/libhipblas.so.3", "libhipblas.so.3")
    user = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", str(blas))
    tree.library("core-hip_lib_generic", "lib/libuser.so.1", "libuser.so.1", flags=user)
    done = build(tree, tmp_path, "--no-check")
    assert (done.returncode, done.stderr) == (0, "")
    (core,) = (tmp_path / "dist").glob("rocm_sdk_core-*.whl")
    assert "-manylinux_" in core.name


@pytest.mark.parametrize(
    "flags", [("-fuse-ld=bfd",), ("-fuse-ld=lld",), ("-no-pie", "-Wl,-rpath,$ORIGIN/y")], ids=" ".join
)
def test_search_paths_of_what_linkers_make(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """The linker lld leaves no entry to spare: patchelf writes there.

    A program may be for a fixed address, or have a path.
    """
    tree = usual_tree(tmp_path / "artifacts")
    tree.library(
        "core-hip_lib_generic", "lib/libx.so.1", "libx.so.1", flags=tuple(each for each in flags if each != "-no-pie")
    )
    tree.program("base_run_generic", "bin/x", *flags)
    done = build(tree, tmp_path)
    assert done.returncode == 0, done.stderr
    core = wheel(tmp_path / "dist", "rocm_sdk_core")
    for path, own in (("_rocm_sdk_core/lib/libx.so.1", "$ORIGIN"), ("_rocm_sdk_core/bin/x", "$ORIGIN/../lib")):
        kept = "$ORIGIN/y:" if "-no-pie" in flags else ""
        assert rpath(core, path, tmp_path).startswith(f"{kept}{own}:$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib:")
    (tmp_path / "_rocm_sdk_core/bin/x").chmod(0o755)
    assert subprocess.check_output([tmp_path / "_rocm_sdk_core/bin/x"], text=True).endswith("/bin/x 1\n")


def test_search_paths_of_the_build_machine_are_left_out(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    entries = "/opt/rocm/lib:$ORIGIN/x:.:${ORIGIN}/y:/usr/lib"
    tree.library("core-hip_lib_generic", "lib/libx.so.1", "libx.so.1", flags=(f"-Wl,-rpath,{entries}",))
    done = build(tree, tmp_path)
    assert done.returncode == 0, done.stderr
    found = rpath(wheel(tmp_path / "dist", "rocm_sdk_core"), "_rocm_sdk_core/lib/libx.so.1", tmp_path)
    assert found.split(":")[:2] == ["$ORIGIN/x", "${ORIGIN}/y"]
    assert all(entry.startswith("$") for entry in found.split(":"))


@pytest.mark.timeout(60)
def test_a_hostile_text_for_pkgconfig(tmp_path: Path) -> None:
    """It takes no time, and what it says does nothing to a terminal."""
    tree = usual_tree(tmp_path / "artifacts")
    for name, text in (("long", "=/" * 300_000), ("escapes", "-I/home/\x1b[2Jme\n")):
        tree.file("core-hip_dev_generic", f"lib/pkgconfig/{name}.pc", f"Name: x\nCflags: {text}")
    done = build(tree, tmp_path, "--no-check")
    assert done.returncode == 0, done.stderr
    assert "escapes.pc names a directory of another machine: /home/\\x1b[2Jme\n" in done.stderr
    assert "\x1b" not in done.stderr
