"""Wheels of other projects on PyPI that carry HIP code: compressed bundles, RELR, thousands of relocations."""

import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest
from programs import completed

from rocm_sdk.fit.code.found_code import code_in
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.trees import rewrite_wheel

pytestmark = pytest.mark.slow

BUILD = Path(__file__).resolve().parents[2] / "build" / "wheels-of-others"
# requirement, platform, files with code, targets of all of them
WHEELS = [
    ("bitsandbytes==0.50.2", "manylinux_2_24_x86_64", 6, {"gfx1030", "gfx1100", "gfx1201", "gfx90a", "gfx942"}),
    (
        "jax-rocm7-plugin==0.10.2",
        "manylinux_2_27_x86_64",
        3,
        {"gfx1010", "gfx1030", "gfx1100", "gfx900", "gfx90a", "gfx942", "gfx950"},
    ),
]


@cache
def wheel_of(requirement: str, platform: str) -> Path:
    """Return the wheel, from PyPI, once per checkout."""
    name = requirement.partition("==")[0].replace("-", "_")
    if not (found := list(BUILD.glob(f"{name}-*.whl"))):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        command += ["--python-version=3.11", f"--platform={platform}", "--dest", str(BUILD), requirement]
        done = completed(command)
        if done.returncode != 0:
            pytest.skip(f"{requirement} cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
        found = list(BUILD.glob(f"{name}-*.whl"))
    return found[0]


@pytest.mark.parametrize(("requirement", "platform", "count", "targets"), WHEELS, ids=[each[0] for each in WHEELS])
def test_a_wheel(requirement: str, platform: str, count: int, targets: set[str], tmp_path: Path) -> None:
    wheel = wheel_of(requirement, platform)
    codes = [code for code in code_in(str(wheel)) if not isinstance(code, Exception) and code.bundles]
    assert len(codes) == count
    assert all({each.target for each in code.targets} >= targets for code in codes)
    assert all(code.compressed_count == len(code.bundles) for code in codes)
    output = tmp_path / wheel.name
    made = rewrite_wheel(str(wheel), str(output), NewCode(("gfx1030", "gfx942"), compressed=False, may_grow=True))
    assert (len(made.rewritten), made.left) == (count, ())
    assert all(each.kept == ("gfx942", "gfx1030") for each in made.rewritten)
    unpack = [sys.executable, "-m", "wheel", "unpack", str(output), "--dest", str(tmp_path / "unpacked")]
    subprocess.run(unpack, check=True, stdout=subprocess.DEVNULL)  # compares each file with RECORD
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(output) as after:
        assert before.namelist() == after.namelist()
        changed = {name for name in before.namelist() if before.getinfo(name).CRC != after.getinfo(name).CRC}
    assert changed == {each.path for each in made.rewritten} | {name for name in changed if name.endswith("RECORD")}
    for each in made.rewritten:
        library = next(iter((tmp_path / "unpacked").glob(f"*/{each.path}")))
        assert os.access(library, os.R_OK)
        told = completed(["eu-elflint", "--gnu-ld", str(library)])
        assert "hip_fatbin" not in told.stdout


def test_a_wheel_that_patchelf_has_changed(tmp_path: Path) -> None:
    """The libraries of the wheel end in a byte of padding, have a TLS segment without bytes, and plain code."""
    wheel = wheel_of("torch-scatter-rocm==2.1.2.post7", "manylinux_2_32_x86_64")
    output = tmp_path / wheel.name
    made = rewrite_wheel(str(wheel), str(output), NewCode(("gfx1030",)))
    assert (len(made.rewritten), made.left) == (3, ())
    assert made.size * 3 < made.size_before
    assert all(each.kept == ("gfx1030",) and len(each.dropped) == 28 for each in made.rewritten)
    unpack = [sys.executable, "-m", "wheel", "unpack", str(output), "--dest", str(tmp_path / "unpacked")]
    subprocess.run(unpack, check=True, stdout=subprocess.DEVNULL)  # compares each file with RECORD
