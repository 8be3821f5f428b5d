"""The environment is on a file system that is mounted noexec."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import Site


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount file systems")
def test_the_mount_is_named(tmp_path: Path, attempt: Callable[..., Any]) -> None:
    place = tmp_path / "noexec"
    place.mkdir()
    mount = completed(["mount", "-t", "tmpfs", "-o", "noexec,size=5m", "none", str(place)])
    if mount.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mount.stderr.strip()}")
    try:
        site = Site(place / "site-packages", rpath="rpath")
        path = site.library("libamdhip64.so.7")
        install(site)
        outcome = attempt(site, "initialize_process(preload_shortnames=['amdhip64'])")
        said = run_test(site.path, "--only", "libraries")
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-017")
    assert "libamdhip64.so.7 is on a file system that is mounted noexec" in outcome.message
    assert outcome.fix.startswith(f"mount -o remount,bind,exec {place} ")
    assert said.only("E-LIB-017")["path"] == str(path)
    assert said.only("E-LIB-017")["fix"] == outcome.fix
