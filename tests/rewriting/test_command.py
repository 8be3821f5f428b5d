"""`rocm-sdk code --keep` and its siblings, as a user types them."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, code_object, compressed, library, objects
from sample_machine import machine_of

from rocm_sdk import device_code
from rocm_sdk_build.code.command import checks_of

TARGETS = ("gfx1030", "gfx90a:xnack-", "gfx942")


def rocm_sdk(*words: object, status: int = 0, **variables: str) -> str:
    """Run `rocm-sdk code WORDS`, and return its output, or its errors where `status` is not 0."""
    command = [sys.executable, "-m", "rocm_sdk", "code", *map(str, words)]
    done = completed(command, env={**os.environ, **variables})
    assert done.returncode == status, done
    return done.stderr if status else done.stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return library(tmp_path / "libx.so", [bundle(objects(*TARGETS, size=100_000))])


def test_keep(path: Path, tmp_path: Path) -> None:
    output = tmp_path / "slim" / "libx.so"
    output.parent.mkdir()
    told = rocm_sdk(path, "--keep", "gfx1030", "--output", output)
    first, second = told.splitlines()
    assert first.startswith(f"{output}   ")
    assert first.endswith(" kB, 1 bundle, verified")
    assert second == "  kept: gfx1030   dropped: gfx90a:xnack-, gfx942"
    listed = rocm_sdk(output).splitlines()
    assert listed[1].startswith("  rewritten: keep gfx1030; made of a file with SHA-256 ")
    assert listed[2] == "  gfx1030 100.0 kB"


GENERIC = {"hipv4-amdgcn-amd-amdhsa--gfx11-generic": code_object(0x54 | 1 << 24, abi=4, size=5000)}


def test_what_drops_nothing_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    """The file stays as it is: a rewrite would add the note, and the new place of the code."""
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1100", size=5000) | GENERIC)])
    output = tmp_path / "new.so"
    told = rocm_sdk(path, "--keep", "gfx1100", "--output", output)
    assert told.startswith(f"{output}   ")
    assert told.endswith(" kB, 1 bundle, as it was: all of its code is kept\n")
    assert output.read_bytes() == path.read_bytes()
    assert output.stat().st_mode == path.stat().st_mode
    told = rocm_sdk(path, "--keep", "gfx1100", "--dry-run")
    assert told.endswith(", as it was: all of its code is kept, nothing written\n")


def test_exact(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1100", size=5000) | GENERIC)])
    for gpu, kept in (("gfx1100", "gfx1100"), ("gfx1101", "gfx11-generic")):
        rocm_sdk(path, "--keep", gpu, "--exact", "--output", tmp_path / gpu)
        assert [each.target for each in device_code(tmp_path / gpu).targets] == [kept]
    assert "--exact needs --keep" in rocm_sdk(path, "--exact", "--compress", "--output", tmp_path / "x", status=2)


def test_several_files_and_a_dry_run(path: Path, tmp_path: Path) -> None:
    other = library(tmp_path / "liby.so", [compressed(bundle(objects(*TARGETS)), 3)])
    told = rocm_sdk(path, other, "--keep", "gfx94X-all", "--dry-run").splitlines()
    assert [line.endswith("nothing written") for line in told] == [True, False, True, False]
    (tmp_path / "slim").mkdir()
    rocm_sdk(path, other, "--keep", "gfx942", "--output", tmp_path / "slim")
    for name in ("libx.so", "liby.so"):
        assert [each.target for each in device_code(tmp_path / "slim" / name).targets] == ["gfx942"]


def test_of_this_machine(path: Path, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine")
    without = rocm_sdk(path, "--keep", "machine", "--dry-run", status=1, ROCM_SDK_ROOTFS=str(machine.root))
    assert "no GPU of this machine is known" in without
    machine.gpu(1, "gfx90a")
    words = (path, "--keep", "machine", "--output", tmp_path / "new.so")
    rocm_sdk(*words, ROCM_SDK_ROOTFS=str(machine.root))
    assert [each.target for each in device_code(tmp_path / "new.so").targets] == ["gfx90a:xnack-"]


@pytest.mark.slow
def test_other_forms(path: Path, tmp_path: Path) -> None:
    rocm_sdk(path, "--compress", "--output", tmp_path / "packed.so")
    assert device_code(tmp_path / "packed.so").compressed_count == 1
    rocm_sdk(tmp_path / "packed.so", "--decompress", "--force", "--output", tmp_path / "plain.so")
    assert device_code(tmp_path / "plain.so").targets == device_code(path).targets
    told = rocm_sdk(path, "--extract", tmp_path / "objects").splitlines()
    assert len(told) == len(TARGETS) == len(list((tmp_path / "objects").iterdir()))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--keep", "gfx1030"], "say where the new file goes: --output FILE"),
        (["--output", "x"], "--output needs --keep"),
        (["--no-load"], "--no-load needs --keep"),
        (["--also-unofficial", "--compress", "--output", "x"], "--also-unofficial needs --keep"),
        (["--keep", "gfx1030", "--json", "--output", "x"], "--json lists code"),
        (["--extract", "x", "--keep", "gfx1030"], "--extract does not go with"),
        (["also.so", "--keep", "gfx1030", "--output", "missing"], "--output must be a directory that exists"),
    ],
)
def test_misuse(path: Path, words: list[str], message: str) -> None:
    assert message in rocm_sdk(path, *words, status=2)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            ["--keep", "gfx1100"],
            1,
            "has no code that gfx1100 runs: the file has code for gfx90a:xnack-, gfx942, gfx1030 [E-CODE-012]",
        ),
        (["--keep", "gfx103"], 2, "gfx103"),
        (["--keep", ","], 1, "names no target"),
        (["--retarget", "gfx1100:gfx1101"], 1, "gfx1101 is not known to have the instructions of gfx1100"),
    ],
)
def test_refused(path: Path, tmp_path: Path, words: list[str], status: int, message: str) -> None:
    assert message in rocm_sdk(path, *words, "--output", tmp_path / "new.so", status=status)
    assert not (tmp_path / "new.so").exists()


def test_what_cannot_be_written(path: Path, tmp_path: Path) -> None:
    told = rocm_sdk(path, "--keep", "gfx1030", "--output", tmp_path / "missing" / "new.so", status=1)
    assert told.startswith("rocm-sdk: ")
    assert "No such file or directory\n  fix: name what is there\n" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("name", "told", "status"),
    [
        ("directory", "it is not a regular file; name one", 1),
        ("file/below", "Not a directory\n  fix: name what is there", 2),
        ("gone", "No such file or directory\n  fix: name what is there", 2),
    ],
)
def test_what_is_no_file(tmp_path: Path, name: str, told: str, status: int) -> None:
    """A directory was "3: Is a directory": the number of its descriptor."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").touch()
    said = rocm_sdk(tmp_path / name, "--extract", tmp_path / "objects", status=status)
    assert said == f"rocm-sdk: {tmp_path}/{name}: {told}\n"
    assert not (tmp_path / "objects").exists()


def test_in_the_place_of_an_installed_file(path: Path, tmp_path: Path) -> None:
    """A comparison of installed files with their RECORD will tell the difference; that is said."""
    site = tmp_path / "site-packages"
    (site / "pkg/lib").mkdir(parents=True)
    (site / "pkg-1.0.dist-info").mkdir()
    (site / "pkg-1.0.dist-info/RECORD").write_text("pkg/lib/libx.so,sha256=x,1\n")
    installed = site / "pkg/lib/libx.so"
    installed.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "rocm_sdk", "code", str(path), "--keep", "gfx1030", "--output", str(installed)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    record = site / "pkg-1.0.dist-info/RECORD"
    assert told == f"rocm-sdk: {installed} took the place of an installed file: {record} will tell that it differs\n"
    assert "took the place" not in rocm_sdk(path, "--keep", "gfx1030", "--output", tmp_path / "new.so")


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this system has no dpkg")
def test_a_file_of_a_system_package() -> None:
    (package,) = subprocess.check_output(["dpkg-query", "-W", "-f", "${Package}", "dpkg"], text=True).split()
    assert checks_of("/usr/bin/dpkg") == f"dpkg -V {package}"
    assert checks_of("/usr/bin/no-such-program") is None


def test_a_closed_pipe(path: Path) -> None:
    """The command ends as other commands do."""
    for program in ("rocm_sdk", "rocm_sdk_build"):
        command = [sys.executable, "-m", program, "code", str(path), "--keep", "gfx1030", "--dry-run"]
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (-signal.SIGPIPE, ""), program
