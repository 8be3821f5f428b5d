"""`rocm-sdk check` of Debian's ROCm, and of what was built for it and for another release."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from programs import completed
from sample_site import CORE, clean_environment

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
    assert check(site, good).stdout == f"{good}: loads; no GPU code of its own\n"
    bad = build(tmp_path / "bad.so", hip, SOURCE.replace("hipGetDeviceCount", "hipOfTheFuture"))
    said = check(site, bad)
    assert said.returncode == 1
    assert "E-LIB-020: it does not fit what it needs: it needs hipOfTheFuture, which none" in said.stdout
    subprocess.run(["patchelf", "--replace-needed", hip.name, "libamdhip64.so.7", good], check=True)
    other = check(site, good)
    line, problem = other.stdout.splitlines()[:2]
    assert line == f"{good}: does not load: it is for ROCm 7.0 or newer; no GPU code of its own"
    assert problem.startswith("  E-LIB-024: ")
