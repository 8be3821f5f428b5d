"""A missing requirement of `rocm-sdk-build`: the command names it, and the way to install it."""

import shlex
import subprocess
from pathlib import Path

import pytest
from environments import environment_with_pip
from package_index import write_wheel
from sample_site import clean_environment

import rocm_sdk
import rocm_sdk_build


@pytest.mark.slow
def test_a_requirement_that_is_not_installed(tmp_path: Path) -> None:
    """The printed command installs it, also if rocm-sdk-build itself is on no index."""
    python = environment_with_pip(tmp_path / "environment")
    (site,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    for package in (rocm_sdk, rocm_sdk_build):
        source = Path(package.__path__[0])
        (site / source.name).symlink_to(source)
    metadata = site / f"rocm_sdk_build-{rocm_sdk.loader_version}.dist-info/METADATA"
    metadata.parent.mkdir()
    headers = f"Metadata-Version: 2.1\nName: rocm-sdk-build\nVersion: {rocm_sdk.loader_version}\n"
    metadata.write_text(f"{headers}Requires-Dist: packaging>=24.2\n")
    write_wheel(tmp_path, "packaging", "99.0")
    environment = clean_environment() | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    command = [str(python), "-m", "rocm_sdk_build", "index", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said, fix = done.stderr.splitlines()
    assert done.returncode == 1
    assert said == "rocm-sdk-build: Python has no module packaging, a requirement of rocm-sdk-build"
    subprocess.run(shlex.split(fix.removeprefix("  fix: ")), env=environment, check=True)
    assert (site / "packaging_files/__init__.py").is_file()
