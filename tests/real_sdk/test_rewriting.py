"""Debian's libraries with the code of one target: they load with their dependencies, and comgr finds what was kept."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm

from rocm_sdk import coverage, device_code
from rocm_sdk_build.code.split import CodeArchives, Place, split_file

LIBRARIES = "_rocm_sdk_libraries/lib"


def keep(site: Path, library: str, targets: str, output: Path) -> str:
    command = [sys.executable, "-m", "rocm_sdk", "code", str(site / LIBRARIES / library), "--keep", targets]
    return subprocess.check_output(
        [*command, "--output", str(output)], text=True, env={**os.environ, "PYTHONPATH": str(site)}
    )


@pytest.mark.parametrize(
    ("library", "targets"),
    [("librocsparse.so.0", "gfx1030"), ("librocrand.so.1", "gfx90a"), ("librocrand.so.1", "gfx900,gfx1030")],
)
def test_one_target(debian_sdk: Callable[[str], Path], tmp_path: Path, library: str, targets: str) -> None:
    site, kept = debian_sdk("none"), rocm().targets_of(*targets.split(","))
    told = keep(site, library, targets, tmp_path / library)
    assert told.splitlines()[0].endswith(", verified")
    before, after = device_code(site / LIBRARIES / library), device_code(tmp_path / library)
    assert [each.target for each in after.targets] == kept
    assert len(after.bundles) == len(before.bundles)
    dropped = sum(each.size for each in before.targets if each.target not in kept)
    assert after.size < before.size - dropped + (1 << 20)


def test_split(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """Without its code it is as large as its host code, and archives have all of what it had."""
    site = debian_sdk("none")
    path, output = site / LIBRARIES / "librocrand.so.1", tmp_path / "lib/librocrand.so.1"
    output.parent.mkdir()
    with CodeArchives(str(tmp_path), "math", is_compressed=False) as archives:
        split_file(str(path), str(output), Place("lib/librocrand.so.1", "../math_@GFXARCH@.kpack"), archives)
        made = archives.finish()
    before = device_code(path)
    sizes = {each.target: each.size for each in before.targets}
    found = {each.target: each.size for archive in made.values() for each in device_code(archive).targets}
    assert found == sizes
    assert output.stat().st_size < before.size - sum(sizes.values()) + (1 << 16)
    gpus = ["gfx1030", "gfx90a:sramecc+:xnack-", "gfx1151"]
    (judged,) = coverage(gpus, output.parent).libraries
    assert [each.verdict for each in judged.gpus] == ["exact", "compatible", "none"]
