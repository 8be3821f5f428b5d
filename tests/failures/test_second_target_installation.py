"""A second `pip install --target` passed over the directories that packages share, or replaced them."""

import subprocess
import sys
from pathlib import Path

import pytest
from sample_devel import core_files, device_files, libraries_files, make_wheel
from sample_report import reinstalls, run_test


def pip_install(target: Path, *options: Path | str) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", str(target), *map(str, options)], check=True, capture_output=True)


@pytest.mark.parametrize("upgrade", [False, True])
def test_what_is_missing_is_named(tmp_path: Path, upgrade: bool) -> None:
    core = make_wheel(tmp_path / "wheels", "rocm-sdk-core", core_files())
    libraries = make_wheel(tmp_path / "wheels", "rocm-sdk-libraries", libraries_files())
    device = make_wheel(tmp_path / "wheels", "rocm-sdk-device-gfx942", device_files("gfx942"))
    target = tmp_path / "target"
    pip_install(target, core, libraries)
    assert "E-FILE-001" not in run_test(target, "--only", "files").codes
    pip_install(target, device, *(["--upgrade"] if upgrade else []))
    owner = "rocm-sdk-libraries" if upgrade else "rocm-sdk-device-gfx942"
    said = run_test(target, "--only", "files")
    missing = [each for each in said.problems if each["code"] in {"E-FILE-001", "E-FILE-008"}]
    assert any(f" of {owner} " in each["title"] for each in missing)
    (fix,) = {each["fix"] for each in missing}
    # All packages at once: --target replaces the directory that they share.
    assert reinstalls(fix, *(f"{name}==7.10.0" for name in ("rocm-sdk-core", "rocm-sdk-libraries", owner)))
    subprocess.run(fix, shell=True, check=True, capture_output=True)
    assert run_test(target, "--only", "files", "--skip", "E-FILE-005").codes == set()


def test_scripts_of_a_target_directory(tmp_path: Path) -> None:
    """pip moves them into the directory, and leaves RECORD as it was."""
    script = {"rocm_sdk_core-7.10.0.dist-info/entry_points.txt": b"[console_scripts]\nrocm-smi = rocm_sdk_core:main\n"}
    target = tmp_path / "target"
    pip_install(target, make_wheel(tmp_path / "wheels", "rocm-sdk-core", core_files() | script))
    assert (target / "bin/rocm-smi").exists()
    assert "E-FILE-001" not in run_test(target, "--only", "files").codes
