"""The version that packages of a prefix get where --version is not given."""

import shutil
import subprocess
from pathlib import Path

import pytest
from build_command import build_command
from ended import assert_failed
from installed_rocm import usual_rocm


def build(root: Path, output: Path) -> subprocess.CompletedProcess[str]:
    return build_command("prefix", root, "--no-loader", "--output", output)


def versions(output: Path) -> set[str]:
    return {path.name.split("-")[1].removesuffix(".tar.gz") for path in output.iterdir()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return usual_rocm(tmp_path / "rocm").root


@pytest.mark.slow
def test_what_the_prefix_says(root: Path, tmp_path: Path) -> None:
    (root / ".info").mkdir(exist_ok=True)
    (root / ".info/version").write_text("7.1.3-45\n")
    done = build(root, tmp_path / "dist")
    assert done.returncode == 0, done.stderr
    assert versions(tmp_path / "dist") == {"7.1.3"}


@pytest.mark.slow
def test_the_name_of_hips_file(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root / ".info", ignore_errors=True)
    shutil.rmtree(root / "include", ignore_errors=True)
    shutil.rmtree(root / "lib/cmake", ignore_errors=True)
    (hip,) = (path for path in root.glob("lib/libamdhip64.so.?*") if not path.is_symlink())
    renamed = hip.rename(hip.with_name("libamdhip64.so.7.1.25424"))
    hip.symlink_to(renamed.name)
    done = build(root, tmp_path / "dist")
    assert done.returncode == 0, done.stderr
    assert versions(tmp_path / "dist") == {"7.1.25424"}


def test_a_root_that_is_none(tmp_path: Path) -> None:
    assert_failed(build(tmp_path / "nothing", tmp_path / "dist"), 2, "nothing: there is no such directory")


def test_nothing_says_it(tmp_path: Path) -> None:
    (tmp_path / "rocm/lib").mkdir(parents=True)
    assert_failed(build(tmp_path / "rocm", tmp_path / "dist"), 1, "no ROOT says which ROCm it has", "--version 7.1.2")
    assert not (tmp_path / "dist").exists()
