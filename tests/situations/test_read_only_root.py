"""ROCM_SDK_ROOT leads to a file system that is mounted read-only, as an image of an SDK is."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import completed
from sample_report import run_test
from sample_site import CORE, Site

INIT = "import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main(['init']))"


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Site]:
    """Yield an SDK with a development package that is not extracted."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount file systems")
    image = Site(tmp_path / "image")
    image.library("libamdhip64.so.7")
    image.write("rocm_sdk_devel/__init__.py")
    image.write("rocm_sdk_devel/_devel.tar")
    image.write("rocm_sdk_devel-7.10.0.dist-info/METADATA", "Name: rocm-sdk-devel\nVersion: 7.10.0\n")
    image.write("rocm_sdk_devel-7.10.0.dist-info/INSTALLER", "pip\n")
    image.write("rocm_sdk_devel-7.10.0.dist-info/RECORD", "rocm_sdk_devel-7.10.0.dist-info/RECORD,,\n")
    place = str(image.path)
    for options in (["--bind", place], ["-o", "remount,bind,ro"]):
        mount = completed(["mount", *options, place])
        if mount.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {mount.stderr.strip()}")
    yield image
    subprocess.run(["umount", place], check=True)


def test_it_is_used_and_not_written_to(image: Site, tmp_path: Path) -> None:
    elsewhere = Site(tmp_path / "site-packages")
    root = {"ROCM_SDK_ROOT": str(image.path)}
    loads = "import rocm_sdk; print(rocm_sdk.preload_libraries('amdhip64')[0].location.path)"
    assert elsewhere.output(loads, **root) == f"{image.path}/{CORE}/lib/libamdhip64.so.7"
    result = elsewhere.run(INIT, check=False, **root)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"rocm-sdk: cannot write to {image.path}: it is on a file system that is mounted read-only [E-DEVEL-008]",
        "  fix: run `rocm-sdk init` before the file system is made of it, or use an SDK in a directory of your own",
    ]
    said = run_test(elsewhere.path, "--only", "packages,devel", "--init", **root)
    assert said.document["chosen_by"] == "ROCM_SDK_ROOT"
