"""The user's site-packages has one package of the SDK, the environment the others."""

import os
import sys
from pathlib import Path

from programs import completed
from sample_report import install, run_test
from sample_site import LIBRARIES, Site, clean_environment

from rocm_sdk.base.starting import PACKAGE_PARENT


def test_the_package_is_named(linked_site: Site, tmp_path: Path) -> None:
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    user = tmp_path / "user"
    user.mkdir()
    for name in (LIBRARIES, "rocm_sdk_libraries-7.10.0.dist-info"):
        (linked_site.path / name).rename(user / name)
    said = run_test(linked_site.path, "--only", "packages", PYTHONPATH=f"{linked_site.path}:{user}")
    found = said.only("E-PKG-004")
    assert found["title"] == f"rocm-sdk-libraries is in {user}, rocm-sdk-core in {linked_site.path}"
    assert "relative paths" in found["cause"]
    assert "rocm-sdk-libraries==7.10.0" in found["fix"]


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
