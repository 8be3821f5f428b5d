"""The user's site-packages has one package of the SDK, the environment the others."""

from __future__ import annotations

from pathlib import Path

from sample_report import install, run_test
from sample_site import LIBRARIES, Site


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
