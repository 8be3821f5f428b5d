"""`rocm-sdk code --keep` where rocm-sdk-build of this version is not installed: it says so, and reads as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_device_code import bundle, library, objects

import rocm_sdk


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A directory that has the loader alone."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
    return packages


def run(packages: Path, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = (
        f"import sys; sys.path.insert(0, {str(packages)!r}); {before}\nfrom rocm_sdk.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-I", "-S", "-c", program, "code", *words]
    return subprocess.run(command, cwd=packages.parent, capture_output=True, text=True, check=False)


def installed_builder(packages: Path, version: str) -> None:
    info = packages / f"rocm_sdk_build-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rocm-sdk-build\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("version", "before", "why"),
    [
        (None, "", "rocm-sdk-build is not installed"),
        ("0.0.9", "", f"rocm-sdk-build 0.0.9 is installed, and this loader is {rocm_sdk.loader_version}"),
        (rocm_sdk.loader_version, "sys.frozen = True", "rocm-sdk-build cannot run in a frozen program"),
    ],
)
def test_new_files(packages: Path, version: str | None, before: str, why: str) -> None:
    if version is not None:
        installed_builder(packages, version)
    path = library(packages.parent / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    done = run(packages, str(path), "--keep", "gfx1030", "--output", str(path.with_name("new.so")), before=before)
    assert done.returncode == 1
    first, fix = done.stderr.splitlines()
    assert first == f"rocm-sdk: new files are not written: {why}"
    assert "build/wheel/rocm_sdk_*.whl" in fix
    assert not path.with_name("new.so").exists()


def test_reading_needs_no_builder(packages: Path) -> None:
    path = library(packages.parent / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    for words in (["libx.so"], ["libx.so", "--kernels"]):
        done = run(packages, *words)
        assert "not installed" not in done.stderr
    assert "gfx1030" in run(packages, str(path)).stdout


def test_a_module_of_that_name_in_the_current_directory_is_not_run(tmp_path: Path) -> None:
    """The directory may be anybody's."""
    (tmp_path / "rocm_sdk_build").mkdir()
    (tmp_path / "rocm_sdk_build/__init__.py").write_text("print('planted')\n")
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    command = [sys.executable, "-c", "import sys; sys.path.remove(''); from rocm_sdk.cli import main; sys.exit(main())"]
    words = ["code", path.name, "--keep", "gfx1030", "--output", "new.so"]
    done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout
    assert (tmp_path / "new.so").exists()
