"""A device package of the old scheme was uninstalled, and took the shared `__init__.py` with it."""

import subprocess
from pathlib import Path

from environments import empty_environment, installer_command
from sample_devel import core_files, device_files, libraries_files, make_wheel
from sample_report import run_test
from sample_site import LIBRARIES


def test_it_is_named_and_fixed(tmp_path: Path) -> None:
    """Real wheels, installed and uninstalled by pip."""
    environment = tmp_path / "venv"
    python = empty_environment(environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    wheels = tmp_path / "wheels"
    init = {f"{LIBRARIES}/__init__.py": b""}
    make_wheel(wheels, "rocm-sdk-core", core_files())
    make_wheel(wheels, "rocm-sdk-libraries", libraries_files())
    make_wheel(wheels, "rocm-sdk-device-gfx942", device_files("gfx942") | init)
    install, uninstall = (installer_command("pip", python, action) for action in ("install", "uninstall"))
    subprocess.run([*install, "-q", "--no-index", *map(str, wheels.iterdir())], check=True, capture_output=True)
    assert "E-PKG-003" not in run_test(packages, "--only", "packages").codes
    subprocess.run([*uninstall, "-q", "-y", "rocm-sdk-device-gfx942"], check=True, capture_output=True)
    said = run_test(packages, "--only", "packages,files")
    found = said.only("E-PKG-003")
    assert found["path"] == str(packages / LIBRARIES)
    assert "took the file with it" in found["cause"]
    assert found["fix"] == "rocm-sdk test --fix"
    fixed = run_test(packages, "--only", "packages,files", "--fix")
    assert f"created {packages / LIBRARIES}/__init__.py" in fixed.stderr
    assert fixed.codes.isdisjoint({"E-PKG-003", "E-FILE-001"}), fixed.problems
    # The wheels of this test keep no modes.
    assert run_test(packages, "--only", "packages,files", "--deep", "--skip", "E-FILE-005").codes == set()
