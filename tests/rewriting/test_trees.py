"""Directories and wheels with less code: RECORD is right, everything else stays, libraries load from their places."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sample_device_code import bundle, compressed, library, objects

from rocm_sdk import BadArchiveError, RewriteError, device_code
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.trees import rewrite_directory, rewrite_wheel

TARGETS = ("gfx1030", "gfx90a:xnack-", "gfx942")
CODE = bundle(objects(*TARGETS, size=50_000))
KEEP = NewCode(("gfx1030",))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return an unpacked wheel, with a library that needs another one beside it."""
    scratch, root = tmp_path / "scratch", tmp_path / "tree"
    (root / "pkg/lib").mkdir(parents=True)
    (root / "pkg-1.0.dist-info").mkdir()
    scratch.mkdir()
    first = library(scratch / "libfirst.so.1", [CODE])
    needs = ("-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", first)
    second = library(scratch / "libsecond.so.1", [compressed(CODE, 3)], *needs)
    other = library(scratch / "libother.so", [bundle(objects("gfx942"))])
    for each in (first, second, other):
        each.rename(root / "pkg/lib" / each.name)
    (root / "pkg/__init__.py").write_text("x = 1\n")
    (root / "pkg/lib/kernels_gfx942.co").write_bytes(bundle(objects("gfx942")))
    (root / "pkg/lib/program").write_text("#!/bin/sh\nexit 0\n")
    (root / "pkg/lib/program").chmod(0o755)
    (root / "pkg-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n")
    (root / "pkg-1.0.dist-info/WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    )
    return root


def packed(tree: Path, directory: Path) -> Path:
    words = ["-m", "wheel", "pack", str(tree), "--dest-dir", str(directory)]
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return next(directory.glob("*.whl"))


@pytest.fixture
def wheel(tree: Path, tmp_path: Path) -> Path:
    return packed(tree, tmp_path)


def targets(path: Path) -> list[str]:
    return [each.target for each in device_code(path).targets]


def test_a_directory(tree: Path, tmp_path: Path) -> None:
    (tree / "pkg/lib/libfirst.so").symlink_to("libfirst.so.1")
    for path in (tree, tree / "pkg", tree / "pkg/lib/program", tree / "pkg/lib/libfirst.so.1"):
        os.utime(path, (1, 2))
    output = tmp_path / "slim"
    made = rewrite_directory(str(tree), str(output), KEEP)
    assert sorted(each.path for each in made.rewritten) == ["pkg/lib/libfirst.so.1", "pkg/lib/libsecond.so.1"]
    assert all(each.loaded for each in made.rewritten), made.rewritten
    assert sorted(left.path for left in made.left) == ["pkg/lib/kernels_gfx942.co", "pkg/lib/libother.so"]
    assert all("has no code that gfx1030 runs" in left.why for left in made.left)
    assert targets(output / "pkg/lib/libsecond.so.1") == ["gfx1030"]
    assert targets(output / "pkg/lib/libother.so") == ["gfx942"]
    assert str((output / "pkg/lib/libfirst.so").readlink()) == "libfirst.so.1"
    assert os.access(output / "pkg/lib/program", os.X_OK)
    for path in (tree, *tree.rglob("*")):
        new, old = (output / path.relative_to(tree)).stat(), path.stat()
        assert (new.st_mode, new.st_mtime_ns) == (old.st_mode, old.st_mtime_ns), path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scratch", "slim", "tree"]


def test_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """The installer pip takes the wheel, and finds RECORD as it should be.

    Members keep their order, times and attributes.
    """
    output = tmp_path / "slim" / wheel.name
    output.parent.mkdir()
    made = rewrite_wheel(str(wheel), str(output), KEEP)
    assert (made.size, made.size_before) == (output.stat().st_size, wheel.stat().st_size)
    assert made.size < made.size_before - 100_000
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(output) as after:
        facts = [(each.filename, each.date_time, each.external_attr, each.compress_type) for each in before.infolist()]
        assert facts == [
            (each.filename, each.date_time, each.external_attr, each.compress_type) for each in after.infolist()
        ]
        assert after.testzip() is None
    unpack = [sys.executable, "-m", "wheel", "unpack", str(output), "--dest", str(tmp_path / "unpacked")]
    subprocess.run(unpack, check=True, stdout=subprocess.DEVNULL)  # compares each file with RECORD
    assert targets(tmp_path / "unpacked/pkg-1.0/pkg/lib/libfirst.so.1") == ["gfx1030"]
    again = tmp_path / "again" / wheel.name
    again.parent.mkdir()
    rewrite_wheel(str(wheel), str(again), KEEP)
    assert again.read_bytes() == output.read_bytes()


def test_a_dry_run(wheel: Path, tree: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for made in (rewrite_wheel(str(wheel), None, KEEP), rewrite_directory(str(tree), None, KEEP)):
        assert made.output is None
        assert made.size < made.size_before
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_refused(wheel: Path, tree: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(RewriteError, match="exists; name a directory that does not"):
        rewrite_directory(str(tree), str(tree), KEEP)
    with pytest.raises(RewriteError, match="never rewritten in place"):
        rewrite_wheel(str(wheel), str(wheel), KEEP)
    with pytest.raises(RewriteError, match=r"rewritten: pkg/lib/kernels_gfx942\.co: has no code that gfx1200 runs"):
        rewrite_directory(str(tree), str(tmp_path / "new"), NewCode(("gfx1200",)))
    os.mkfifo(tree / "fifo")
    with pytest.raises(RewriteError, match="neither a file nor a directory nor a link"):
        rewrite_directory(str(tree), str(tmp_path / "new"), KEEP)
    wheel.write_bytes(wheel.read_bytes()[:-30])
    with pytest.raises(BadArchiveError, match="no usable zip file"):
        rewrite_wheel(str(wheel), str(tree.parent / "scratch" / wheel.name), KEEP)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("new.whl", "installers reject the name new.whl"),
        ("pkg-1.0-py3-none-any.zip", "installers reject the name pkg-1.0-py3-none-any.zip"),
        ("pkg-1.1-py3-none-any.whl", "pkg-1.1-py3-none-any.whl is the name of another distribution or version"),
        ("other-1.0-py3-none-any.whl", "is the name of another distribution or version"),
    ],
)
def test_a_name_that_installers_reject(wheel: Path, tmp_path: Path, name: str, cause: str) -> None:
    wheel.write_bytes(b"is not read")
    with pytest.raises(RewriteError, match=cause):
        rewrite_wheel(str(wheel), str(tmp_path / "slim" / name), KEEP)


def test_the_wheel_and_the_member_are_named(tree: Path, tmp_path: Path) -> None:
    """The member lay in a directory that is gone when the message is read."""
    dense = {name: code + bytes(1_000_000) for name, code in objects("gfx1030").items()}
    (tree / "pkg/lib/dense.co").write_bytes(compressed(bundle(dense), 3))
    wheel = packed(tree, tmp_path)
    with pytest.raises(RewriteError, match="would grow") as found:
        rewrite_wheel(str(wheel), None, NewCode(compressed=False))
    assert str(found.value).startswith(f"{wheel}: pkg/lib/dense.co would grow")
    assert ".rocm-sdk-" not in str(found.value)
    with pytest.raises(RewriteError, match=r"pkg/lib/dense\.co: has no code that gfx1200 runs") as refused:
        rewrite_wheel(str(wheel), None, NewCode(("gfx1200",)))
    assert str(refused.value).startswith(f"{wheel} cannot be rewritten: ")


def test_a_wheel_without_code(tree: Path, tmp_path: Path) -> None:
    for path in (tree / "pkg/lib").iterdir():
        path.unlink()
    wheel = packed(tree, tmp_path)
    with pytest.raises(RewriteError, match="cannot be rewritten: it holds no GPU code") as found:
        rewrite_wheel(str(wheel), None, KEEP)
    assert str(found.value).startswith(str(wheel))


def test_files_that_are_left_for_one_reason_are_one_line(tree: Path) -> None:
    """As rocBLAS has hundreds of loose files for other GPUs."""
    for number in range(9):
        shutil.copy(tree / "pkg/lib/libother.so", tree / f"pkg/lib/libother{number}.so")
    command = [sys.executable, "-m", "rocm_sdk", "code", str(tree), "--keep", "gfx1030", "--dry-run", "--no-load"]
    told = subprocess.check_output(command, text=True).splitlines()
    first = "pkg/lib/kernels_gfx942.co, pkg/lib/libother.so, pkg/lib/libother0.so, and 8 more"
    assert (
        told[-1]
        == f"  left as they are: 11 files: has no code that gfx1030 runs: the file has code for gfx942: {first}"
    )


def test_the_command(wheel: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "rocm_sdk",
        "code",
        str(wheel),
        "--keep",
        "gfx1030",
        "--output",
        str(tmp_path / "slim"),
    ]
    (tmp_path / "slim").mkdir()
    told = subprocess.check_output(command, text=True).splitlines()
    assert told[0].startswith(f"{tmp_path}/slim/{wheel.name}   ")
    assert told[0].endswith(", 2 files rewritten")
    assert told[1].startswith("  pkg/lib/libfirst.so.1   ")
    assert told[1].endswith(", verified")
    assert told[2] == "    kept: gfx1030   dropped: gfx90a:xnack-, gfx942"
    assert told[-1].startswith(
        "  left as they are: 2 files: has no code that gfx1030 runs: the file has code for gfx942: "
    )
    unloaded = subprocess.check_output([*command, "--no-load", "--dry-run"], text=True).splitlines()
    assert unloaded[1].endswith(", verified, not loaded: loading was not asked for")
