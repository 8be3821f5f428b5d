"""Traces of installers: packages that took files of others with them, a second --target, a site of the user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from environments import empty_environment, installer_command
from programs import completed
from sample_devel import core_files, device_files, libraries_files, make_wheel
from sample_report import install, reinstalls, run_test
from sample_site import LIBRARIES, Site, clean_environment

from rocm_sdk.base.starting import PACKAGE_PARENT

# A device package of the old scheme was uninstalled, and took the shared `__init__.py` with it.


def test_an_uninstalled_device_package_took_a_shared_file(tmp_path: Path) -> None:
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


# A second `pip install --target` passed over the directories that packages share, or replaced them.


def pip_install(target: Path, *options: Path | str) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", str(target), *map(str, options)], check=True, capture_output=True)


@pytest.mark.parametrize("upgrade", [False, True])
def test_what_a_second_target_installation_lost_is_named(tmp_path: Path, upgrade: bool) -> None:
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
    assert reinstalls(fix, f"{owner}==7.10.0"), "the others stay, in the directories that they share"
    subprocess.run(fix, shell=True, check=True, capture_output=True)
    assert run_test(target, "--only", "files", "--skip", "E-FILE-005").codes == set()


def test_scripts_of_a_target_directory(tmp_path: Path) -> None:
    """The installer pip moves the scripts into the directory, and leaves RECORD as it was."""
    script = {"rocm_sdk_core-7.10.0.dist-info/entry_points.txt": b"[console_scripts]\nrocm-smi = rocm_sdk_core:main\n"}
    target = tmp_path / "target"
    pip_install(target, make_wheel(tmp_path / "wheels", "rocm-sdk-core", core_files() | script))
    assert (target / "bin/rocm-smi").exists()
    assert "E-FILE-001" not in run_test(target, "--only", "files").codes


# The user's site-packages has one package of the SDK, the environment the others.


def test_two_sdks(linked_site: Site, tmp_path: Path) -> None:
    install(linked_site)
    other = Site(tmp_path / "other")
    install(other, "6.4.0")
    said = run_test(linked_site.path, "--only", "packages", PYTHONPATH=f"{linked_site.path}:{other.path}")
    assert "7.10.0" in said.only("W-PKG-005")["title"]
    assert f"6.4.0 in {other.path}" in said.only("W-PKG-005")["title"]


def test_a_fix_for_the_site_of_the_user(tmp_path: Path) -> None:
    """Without --user, pip installs into the interpreter's own directory wherever that can be written."""
    interpreter = sys._base_executable  # type: ignore[attr-defined]  # an environment has no site of the user
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = Site(tmp_path / "base/lib" / version / "site-packages")
    library = site.library("libamdhip64.so.7")
    install(site)
    for path in site.path.glob("*.dist-info"):
        (path / "INSTALLER").write_text("pip\n")
    library.unlink()
    (site.path / "pip").mkdir()  # which the interpreter of a system may lack
    environment = clean_environment() | {"PYTHONUSERBASE": str(tmp_path / "base"), "PYTHONPATH": PACKAGE_PARENT}
    words = ["-m", "rocm_sdk", "test", "--only", "files"]
    done = completed([interpreter, *words], env=environment, cwd="/")
    assert "-m pip install --user --force-reinstall --no-deps " in done.stdout, done.stdout + done.stderr
    assert os.path.realpath(interpreter) in os.path.realpath(done.stdout.partition("fix ")[2].split()[0])
