"""Debian's libraries with the code of one target: they load with their dependencies, and comgr finds what was kept."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm
from programs import completed
from sample_site import clean_environment

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


def _with_sramecc(target: str) -> str:
    """The GPU that a target is for, in the mode that is usual: the server processors from gfx906 on have sramecc."""
    return target.replace(":xnack-", ":sramecc+:xnack-") if target.startswith(("gfx906", "gfx908")) else target


# Asks comgr, which the loader finds with all that it needs, for the place of each GPU's code in a bundle.
ASK_COMGR = """
import ctypes, json, sys
import rocm_sdk

class CodeObjectInfo(ctypes.Structure):  # amd_comgr_code_object_info_t
    _fields_ = (("isa", ctypes.c_char_p), ("size", ctypes.c_size_t), ("offset", ctypes.c_uint64))

path, offset, size, *gpus = json.loads(sys.stdin.read())
with open(path, "rb") as file:
    file.seek(offset)
    content = file.read(size)
rocm_sdk.preload_libraries("amd_comgr")
comgr = rocm_sdk._ALL_CDLLS["amd_comgr"]
data, found = ctypes.c_uint64(), {}
assert comgr.amd_comgr_create_data(9, ctypes.byref(data)) == 0  # AMD_COMGR_DATA_KIND_FATBIN
assert comgr.amd_comgr_set_data(data, ctypes.c_size_t(len(content)), content) == 0
for gpu in gpus:
    query = CodeObjectInfo(f"amdgcn-amd-amdhsa--{gpu}".encode(), 0, 0)
    assert comgr.amd_comgr_lookup_code_object(data, ctypes.byref(query), ctypes.c_size_t(1)) == 0
    found[gpu] = query.offset, query.size
print(json.dumps(found))
"""


def test_what_comgr_finds(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """The library that HIP asks: each kept target at its offset and size, and none that was dropped."""
    site = debian_sdk("none")
    output = tmp_path / "librocrand.so.1"
    keep(site, "librocrand.so.1", "gfx1030,gfx90a", output)
    (found,) = device_code(output).bundles
    wanted = {image.target: [image.offset - found.offset, image.size] for image in found.images}
    assert sorted(wanted) == sorted(rocm().targets_of("gfx1030", "gfx90a"))
    gpus = {
        "gfx1030": wanted["gfx1030"],
        **{
            f"gfx90a:sramecc+:{mode}": wanted.get(f"gfx90a:{mode}") or wanted["gfx90a"] for mode in ("xnack+", "xnack-")
        },
        **{_with_sramecc(each): [0, 0] for each in rocm().targets if not each.startswith(("gfx1030", "gfx90a"))},
    }
    result = completed(
        [sys.executable, "-c", ASK_COMGR],
        input=json.dumps([str(output), found.offset, found.size, *gpus]),
        env=clean_environment() | {"PYTHONPATH": str(site)},
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == gpus
