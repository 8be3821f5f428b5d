"""`--split-debug`: debug information in packages of its own, where debuggers find it; what is loaded stays the same."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from ended import assert_failed, succeeded
from installed_rocm import usual_rocm
from programs import completed
from sample_device_code import bundle, code_object
from sample_site import clean_environment
from system_programs import find, need

from rocm_sdk import RocmSdkError, _native
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.debug_split import debuggable, split

SOURCE = r"""
#include <stdio.h>
__attribute__((section(".hip_fatbin"), aligned(4096), used)) static const char code[] = {
#include "code.inc"
};
__attribute__((noinline)) int inner(int x)
{
    return x * 3; /* line 8 */
}
int outer(int x) { volatile int y = inner(x); return y + 1; }
#ifdef SPLIT
__attribute__((section(".rocm_kpack_ref"), used)) static const char marker[] = "a marker of a kpack archive";
#endif
const void *__attribute__((visibility("default"))) code_of(void) { return code; }
"""
BUILT_ID = "-Wl,--build-id=sha1"


def compiled(path: Path, soname: str, *flags: str, code: bytes = b"code") -> Path:
    """Compile a library with debug information and a section like GPU code, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent.parent / f"{path.name}-source"
    source.mkdir(exist_ok=True)
    (source / "code.inc").write_text(",".join(map(str, code)))
    (source / "fat.c").write_text(SOURCE)
    words = [
        "gcc",
        "-g",
        "-O1",
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{soname}",
        *flags,
        "-o",
        str(path),
        str(source / "fat.c"),
    ]
    subprocess.run(words, check=True)
    shutil.rmtree(source)
    return path


def sections(path: Path) -> dict[str, tuple[str, ...]]:
    """Return type, address, offset and size of each section by its name, as readelf prints them."""
    text = succeeded(["readelf", "-SW", str(path)]).stdout
    rows = re.findall(r"^ +\[ *\d+\] (\S+) +(\S+) +(\w+) (\w+) (\w+)", text, re.MULTILINE)
    return {name: tuple(rest) for name, *rest in rows}


@pytest.fixture
def tree(tmp_path: Path) -> ArtifactTree:
    need("eu-strip")
    tree = usual_tree(tmp_path / "artifacts")
    place = tree.place("core-hip_lib_generic", "lib/libfat.so.1")
    compiled(place, "libfat.so.1", BUILT_ID, code=bundle({"hipv4-amdgcn-amd-amdhsa--gfx942": code_object(0x4C)}))
    compiled(tree.place("core-hip_lib_generic", "lib/libnoid.so.1"), "libnoid.so.1", "-Wl,--build-id=none")
    compiled(tree.place("blas_lib_generic", "lib/libmath.so.2"), "libmath.so.2", BUILT_ID)
    tree.program("base_run_generic", "bin/rocm-debugged", "-g", BUILT_ID)
    return tree


def build(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return build_command(*words, *(["--no-loader"] if words[0] in ("artifacts", "prefix") else []))


def made(*words: str | Path) -> subprocess.CompletedProcess[str]:
    done = build(*words)
    assert done.returncode == 0, done.stderr
    return done


def unpacked(directory: Path, target: Path) -> Path:
    """Unpack the wheels as an installer does, and return the target."""
    for wheel in sorted(directory.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    return target


def names(wheel: Path) -> list[str]:
    return [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]


# ---- the packages


@pytest.mark.always
def test_artifacts(tree: ArtifactTree, tmp_path: Path) -> None:
    words = ("artifacts", tree.root, "--version", "7.10.0", "--output")
    done = made(*words, tmp_path / "split", "--split-debug")  # they are installed and tested, too
    assert "rocm-sdk-core: lib/libnoid.so.1 keeps its debug information: it has no build ID" in done.stderr
    wheels = {path.name.partition("-")[0]: path for path in (tmp_path / "split").glob("*.whl")}
    assert {"rocm_sdk_debug_core", "rocm_sdk_debug_libraries"} <= wheels.keys()
    assert "rocm_sdk_debug_profiler" not in wheels  # it has no debug information
    core, debug = wheels["rocm_sdk_core"], wheels["rocm_sdk_debug_core"]
    assert core.name.rpartition("-py3")[2] == debug.name.rpartition("-py3")[2]
    site = unpacked(tmp_path / "split", tmp_path / "site")
    original = tree.root / "core-hip_lib_generic/x/stage/lib/libfat.so.1"
    library = site / "_rocm_sdk_core/lib/libfat.so.1"
    found = _native.inspect_library(library).build_id
    assert found == _native.inspect_library(original).build_id
    program = _native.inspect_library(site / "_rocm_sdk_core/bin/rocm-debugged").build_id
    expected = [
        f"_rocm_debug_core/lib/debug/.build-id/{each[:2]}/{each[2:]}.debug" for each in sorted((found, program))
    ]
    assert names(debug) == expected
    assert ".debug_info" not in sections(library)
    assert {".symtab", ".gnu_debuglink"} <= sections(library).keys()
    assert ".debug_info" in sections(site / "_rocm_sdk_core/lib/libnoid.so.1")
    assert sections(library)[".hip_fatbin"] == sections(original)[".hip_fatbin"]
    targets = [{entry.target for entry in _native.device_code(str(path)).targets} for path in (original, library)]
    assert targets[0] == targets[1] != set()
    loaded = "import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); print(library.outer(5))"
    run = succeeded([sys.executable, "-c", loaded, str(library)])
    assert run.stdout == "16\n"


@pytest.mark.always
def test_without_the_option_nothing_changes(tree: ArtifactTree, tmp_path: Path) -> None:
    made("artifacts", tree.root, "--version", "7.10.0", "--no-check", "--output", tmp_path / "whole")
    assert not list((tmp_path / "whole").glob("*debug*"))
    site = unpacked(tmp_path / "whole", tmp_path / "site")
    assert ".debug_info" in sections(site / "_rocm_sdk_core/lib/libfat.so.1")


@pytest.mark.always
def test_the_same_bytes_and_one_package_alone(tree: ArtifactTree, tmp_path: Path) -> None:
    families = ("--linux-amdgpu-families", "gfx942,gfx1100")
    words = ("artifacts", tree.root, "--version", "7.10.0", "--no-check", "--split-debug", *families, "--output")
    made(*words, tmp_path / "one")
    made(*words, tmp_path / "two", "--only", "core")
    second = {path.name: path.read_bytes() for path in (tmp_path / "two").glob("*.whl")}
    assert {name.partition("-")[0] for name in second} == {"rocm_sdk_core", "rocm_sdk_debug_core"}
    for name, data in second.items():
        assert (tmp_path / "one" / name).read_bytes() == data


@pytest.mark.slow
def test_checked_and_indexed(tree: ArtifactTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made("artifacts", tree.root, "--version", "7.10.0rc1", "--no-check", "--split-debug", "--output", out)
    made("check", out)
    made("index", out)
    assert (out / "simple/rocm-sdk-debug-core/index.html").is_file()
    made("promote", out, "--version", "7.10.0", "--output", tmp_path / "final")
    (wheel,) = (tmp_path / "final").glob("rocm_sdk_debug_core-7.10.0-*.whl")
    old = next(out.glob("rocm_sdk_debug_core-*.whl"))
    assert names(wheel) == names(old)
    data = bytearray(old.read_bytes())
    data[len(data) // 3] ^= 1
    old.write_bytes(data)
    assert "rocm_sdk_debug_core" in build("check", out).stdout  # it is read, although nothing loads it
    old.rename(old.with_name(old.name.replace("_core", "_other")))
    assert build("check", out).returncode == 1
    (out / old.name.replace("_core", "_other")).unlink()
    next(out.glob("rocm_sdk_libraries-*.whl")).unlink()
    told = build("check", out).stdout
    assert "is the debug information of rocm-sdk-libraries 7.10.0rc1, which is not there" in told


@pytest.mark.always
def test_the_bill_of_materials(tree: ArtifactTree, tmp_path: Path) -> None:
    made("artifacts", tree.root, "--version", "7.10.0", "--no-check", "--split-debug", "--output", tmp_path / "out")
    (wheel,) = (tmp_path / "out").glob("rocm_sdk_debug_libraries-*.whl")
    (name,) = (each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".cdx.json"))
    document = json.loads(zipfile.ZipFile(wheel).read(name))
    assert name.endswith("sboms/rocm-sdk-debug-libraries.cdx.json")
    assert [each["bom-ref"] for each in document["components"]] == ["artifact:blas_lib_generic"]


@pytest.mark.slow
def test_an_estimate(tree: ArtifactTree, tmp_path: Path) -> None:
    words = ("artifacts", tree.root, "--version", "7.10.0", "--output", tmp_path / "out")
    document = json.loads(made(*words, "--split-debug", "--dry-run", "--json").stdout)
    packages = {each["name"]: each for each in document["packages"]}
    assert packages["debug-core"]["artifacts"] == packages["core"]["artifacts"]
    made(*words, "--split-debug", "--no-check")
    for each in packages.values():
        found = tmp_path / "out" / each["file"]
        assert found.stat().st_size <= each["wheel"], each


@pytest.mark.always
def test_a_prefix(tmp_path: Path) -> None:
    prefix = usual_rocm(tmp_path / "rocm")
    compiled(prefix.root / "lib/libhipfile.so.1", "libhipfile.so.1", BUILT_ID)
    made("prefix", prefix.root, "--version", "7.1.2", "--no-check", "--split-debug", "--output", tmp_path / "out")
    (wheel,) = (tmp_path / "out").glob("rocm_sdk_debug_core-*.whl")
    assert len(names(wheel)) == 1


@pytest.mark.slow
def test_equal_build_ids_of_different_files(tree: ArtifactTree, tmp_path: Path) -> None:
    same = "-Wl,--build-id=0x0123456789abcdef"
    compiled(tree.place("core-hip_lib_generic", "lib/libone.so.1"), "libone.so.1", same)
    compiled(tree.place("core-hip_lib_generic", "lib/libtwo.so.1"), "libtwo.so.1", same)
    done = made(
        "artifacts", tree.root, "--version", "7.10.0", "--no-check", "--split-debug", "--output", tmp_path / "o"
    )
    assert re.search(
        r"lib/lib(one|two)\.so\.1 keeps its debug information: it has the build ID of .*lib(one|two)", done.stderr
    )


def test_without_the_tool(tree: ArtifactTree, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("gcc", "cc", "as", "ld"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    command = [sys.executable, "-m", "rocm_sdk_build", "artifacts", str(tree.root), "--version", "1", "--split-debug"]
    environment = os.environ | {"PATH": str(tmp_path / "bin")}
    done = completed([*command, "--output", str(tmp_path / "out")], env=environment)
    assert_failed(done, 1, "rocm-sdk-build: eu-strip: is not installed\n  fix: install elfutils")
    assert not list((tmp_path / "out").glob("*.whl"))


# ---- debuggers


@pytest.fixture
def installed(tree: ArtifactTree, tmp_path: Path) -> Path:
    """Return a site-packages directory with the packages; the sources of the libraries are gone."""
    made("artifacts", tree.root, "--version", "7.10.0", "--no-check", "--split-debug", "--output", tmp_path / "out")
    site = unpacked(tmp_path / "out", tmp_path / "site-packages")
    shutil.rmtree(tree.root)
    return site


@pytest.mark.always
def test_eu_addr2line_shows_function_and_line(installed: Path) -> None:
    library, directory = installed / "_rocm_sdk_core/lib/libfat.so.1", installed / "_rocm_debug_core/lib/debug"
    symbols = succeeded(["nm", "-D", str(library)]).stdout
    (address,) = re.findall(r"^(\w+) T inner$", symbols, re.MULTILINE)
    command = ["eu-addr2line", "-f", "-e", str(library), f"0x{address}"]
    with_it = succeeded([*command, f"--debuginfo-path={directory}"])
    assert re.search(r"^inner\n.*fat\.c:[78]", with_it.stdout), with_it.stdout
    without = succeeded([*command, "--debuginfo-path=/nowhere"])
    assert "fat.c" not in without.stdout


@pytest.mark.slow
def test_gdb_shows_function_and_line(installed: Path, tmp_path: Path) -> None:
    gdb = find("gdb")
    words = [sys.executable, "-m", "rocm_sdk", "info", "--build-id"]
    environment = clean_environment() | {"PYTHONPATH": str(installed)}
    text = completed(words, env=environment).stdout
    (line,) = re.findall(r"^gdb: (set debug-file-directory .*)$", text, re.MULTILINE)
    library = installed / "_rocm_sdk_core/lib/libfat.so.1"
    command = [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    asked = ["-ex", f"file {library}", "-ex", "info line inner"]
    run = completed([*command, "-iex", line, *asked], cwd=tmp_path)
    assert re.search(r'Line [78] of ".*fat\.c"', run.stdout), run.stdout + run.stderr
    without = completed([*command, *asked], cwd=tmp_path)
    assert "fat.c" not in without.stdout


@pytest.mark.always
def test_debuginfod_serves_it(installed: Path, tmp_path: Path) -> None:
    """The server knows the file by the name that `info --build-id` prints."""
    words = [sys.executable, "-m", "rocm_sdk", "info", "--build-id", "--json"]
    library = installed / "_rocm_sdk_core/lib/libfat.so.1"
    environment = clean_environment() | {"PYTHONPATH": str(installed)}
    run = succeeded([*words[:-1], str(library), "--json"], env=environment)
    (found,) = json.loads(run.stdout)["files"]
    assert found["debuginfod"] == f"/buildid/{found['build_id']}/debuginfo"
    assert Path(found["installed_debug_file"]).is_relative_to(installed / "_rocm_debug_core/lib/debug/.build-id")
    served = tmp_path / "served" / found["debuginfod"].lstrip("/")
    served.parent.mkdir(parents=True)
    shutil.copy(found["installed_debug_file"], served)
    client = os.environ | {
        "DEBUGINFOD_URLS": f"file://{tmp_path / 'served'}",
        "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"),
    }
    command = ["debuginfod-find", "debuginfo", found["build_id"]]
    got = succeeded(command, env=client).stdout.strip()
    assert Path(got).read_bytes() == served.read_bytes()


@pytest.mark.always
def test_the_self_test_knows_the_packages(installed: Path) -> None:
    words = [sys.executable, "-m", "rocm_sdk", "test", "--deep", "--only", "packages,files", "--json"]
    environment = clean_environment() | {"PYTHONPATH": str(installed)}
    run = completed(words, env=environment)
    codes = {each["code"] for each in json.loads(run.stdout)["problems"] if each["severity"] == "error"}
    assert codes <= {"E-FILE-005"}, run.stdout  # extractall keeps no modes


# ---- one file


@pytest.mark.parametrize(
    "flags", [(), ("-fuse-ld=lld",), ("-Wl,-z,separate-code",), ("-DSPLIT",), ("-DSPLIT", "-fuse-ld=lld")]
)
def test_what_is_loaded_stays(tmp_path: Path, flags: tuple[str, ...]) -> None:
    need("eu-strip")
    library = compiled(tmp_path / "lib/liba.so", "liba.so", BUILT_ID, *flags)
    stripped, debug = tmp_path / "stripped", tmp_path / "debug"
    split(library, stripped, debug, "cd.debug")
    before, after = sections(library), sections(stripped)
    kept = {
        name: row for name, row in before.items() if not name.startswith((".debug", ".symtab", ".strtab", ".shstr"))
    }
    assert {name: after[name] for name in kept if name != ".comment"} == {
        name: row for name, row in kept.items() if name != ".comment"
    }


def test_files_that_are_not_looked_into(tmp_path: Path) -> None:
    for data in (b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(58), b"#!/bin/sh\n"):
        (tmp_path / "file").write_bytes(data)
        assert debuggable(tmp_path / "file") is None


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files(tmp_path: Path, seed: int) -> None:
    """Damaged files are split as they should be, or refused by an error of ours; nothing hangs."""
    import random

    library = compiled(tmp_path / "lib/liba.so", "liba.so", BUILT_ID)
    data, chance = bytearray(library.read_bytes()), random.Random(seed)
    table = int.from_bytes(data[40:48], "little")
    for _ in range(4):
        data[chance.choice((chance.randrange(64), chance.randrange(64, 700), chance.randrange(table, len(data))))] ^= (
            1 << chance.randrange(8)
        )
    library.write_bytes(data)
    if debuggable(library) is not None:
        try:
            split(library, tmp_path / "stripped", tmp_path / "debug", "x.debug")
        except PackagingError as error:
            assert str(library) in str(error)
            assert error.fix
        except RocmSdkError:
            pytest.fail("an error that names no file")


def test_another_tool_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that another tool writes are compared: loaded bytes, headers, build ID."""
    library = compiled(tmp_path / "lib/liba.so", "liba.so", BUILT_ID)
    real = find("eu-strip")
    fakes = {
        "touch $7": "eu-strip failed: exit status 0",
        "touch $5 $7": "it is not a 64-bit, little-endian ELF file",
        f'{real} "$@"; printf x | dd of="$7" bs=1 seek=5000 conv=notrunc 2>/dev/null': "a loaded part changed",
        f'{real} "$@"; printf x | dd of="$7" bs=1 seek=24 conv=notrunc 2>/dev/null': "its headers changed",
        f'{real} "$@"; cp "$8" "$5"; objcopy --remove-section .note.gnu.build-id "$5"': "another build ID",
        'cp "$8" "$7"; cp "$8" "$5"': "the new file has debug information",
        "echo no; exit 3": "eu-strip failed: exit status 3",
    }
    for number, (text, message) in enumerate(fakes.items()):
        program = tmp_path / str(number) / "eu-strip"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        with pytest.raises(PackagingError, match=message) as caught:
            split(library, tmp_path / f"s{number}", tmp_path / f"d{number}", "x.debug")
        assert str(library) in str(caught.value)
