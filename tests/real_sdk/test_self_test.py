"""`rocm-sdk test` on Debian's libraries in each shape: AMD's real libraries, each loaded in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import clean_environment


def self_test(site: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return completed(
        [sys.executable, "-m", "rocm_sdk", "test", *options],
        env=clean_environment() | {"PYTHONPATH": str(site)},
        timeout=300,
    )


def test_the_sdk_is_sound(each_debian_sdk: Path) -> None:
    result = self_test(each_debian_sdk, "--deep", "--json")
    assert result.returncode == 0, result.stdout
    subjects = {row["subject"]: row for row in json.loads(result.stdout)["subjects"]}
    libraries = [path for path in each_debian_sdk.glob("_rocm_sdk_*/lib/**/lib*.so*") if not path.is_symlink()]
    assert subjects["libraries"]["count"] == len(libraries) > 20
    assert subjects["files"]["count"] >= len(libraries)
    assert subjects["api"]["count"] >= 8


@pytest.mark.parametrize("shape", ["none", "rpath"])
def test_a_real_library_without_what_it_needs(copy_of_debian_sdk: Callable[[str], Path], shape: str) -> None:
    site = copy_of_debian_sdk(shape)
    (lost,) = site.glob("_rocm_sdk_*/lib/librocsparse.so.0")
    lost.unlink()
    result = self_test(site, "--only", "files,libraries")
    assert result.returncode == 1
    assert "E-FILE-001  librocsparse.so.0 of rocm-sdk-libraries is missing\n  breaks   hipsparse\n" in result.stdout
    assert "\n1 problem" in result.stdout
