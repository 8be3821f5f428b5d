"""The device code of Debian's libraries: as it is, and with the code of one target."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from debian_sdk import rocm
from sample_machine import machine_of
from sample_site import clean_environment

from rocm_sdk import coverage, device_code
from rocm_sdk.fit.coverage import with_code
from rocm_sdk_build.code.split import CodeArchives, Place, split_file


@pytest.mark.parametrize("name", ["librocsparse.so.0", "librocrand.so.1"], ids=["rocsparse", "rocrand"])
def test_all_bundles(debian_sdk: Callable[[str], Path], name: str) -> None:
    bundles = rocm().bundles[name]
    path = debian_sdk("none") / "_rocm_sdk_libraries/lib" / name
    code = device_code(path)
    assert [each.target for each in code.targets] == [*rocm().targets]
    assert (len(code.bundles), code.compressed_count, code.kind) == (bundles, 0, "ELF file")
    assert all(each.image_count == bundles for each in code.targets)
    images = [image for bundle in code.bundles for image in bundle.images]
    assert {(image.format, image.version) for image in images} == {("code object", 4)}
    assert all(image.target == image.object_target for image in images)


def test_libraries_without_device_code(debian_sdk: Callable[[str], Path]) -> None:
    for name in ("_rocm_sdk_core/lib/libamd_comgr.so.2", "_rocm_sdk_core/lib/librocm_smi64.so.1"):
        code = device_code(debian_sdk("none") / name)
        assert (code.bundles, code.removed, code.kernel_name) == ((), False, None)


def test_coverage(debian_sdk: Callable[[str], Path]) -> None:
    site = debian_sdk("none")
    found = coverage(["gfx1030", "gfx90a", "gfx1031", "gfx1151"], site, unofficial=True)
    verdicts = {each.name: [on.verdict for on in each.gpus] for each in with_code(found)}
    wanted = ["exact", "compatible", "best effort", "none"]
    assert verdicts == {"rocrand": wanted, "rocsparse": wanted}
    assert found.faults == ()
    assert all(on.uncovered_modes == () for each in found.libraries for on in each.gpus)
    others = {each for each in rocm().targets if not each.startswith(("gfx1030", "gfx90a"))}
    assert {each.target for each in found.targets if not each.used} == others


def test_comgr_is_not_patched(debian_sdk: Callable[[str], Path]) -> None:
    """Debian 12's finds code for the exact target only."""
    assert ask_comgr(debian_sdk("none"), "comgr_tries_other_processors") == str(rocm().comgr_is_patched)


def test_comgr_translates_no_spirv(debian_sdk: Callable[[str], Path]) -> None:
    """The comgr of Debian 12 is older than the translation of SPIR-V.

    The same comgr does not unpack bundles either, so nothing is wrong with its cache.
    """
    assert ask_comgr(debian_sdk("none"), "comgr_translates_spirv") == str(rocm().comgr_translates_spirv)
    assert ask_comgr(debian_sdk("none"), "cache_problem") == "()"


def ask_comgr(site: Path, function: str) -> str:
    program = f"from rocm_sdk.fit.comgr import {function} as ask; print(ask())"
    variables = clean_environment() | {"PYTHONPATH": str(site)}
    return subprocess.check_output([sys.executable, "-c", program], text=True, env=variables).strip()


def test_a_gpu_that_the_libraries_have_code_for(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """gfx1030 was said to have no packages, for the metadata names none."""
    machine = machine_of(tmp_path / "machine", "gfx1030")
    variables = clean_environment() | {"PYTHONPATH": str(debian_sdk("none")), "ROCM_SDK_ROOTFS": str(machine.root)}
    for words in (["targets", "--missing"], ["check-gpu"]):
        result = subprocess.run([sys.executable, "-m", "rocm_sdk", *words], env=variables, check=False)
        assert result.returncode == 0


_MEASURE = """
import sys, rocm_sdk
peak = lambda: int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before = peak()
rocm_sdk.device_code(sys.argv[1])
print(peak() - before)
"""


def test_memory(debian_sdk: Callable[[str], Path]) -> None:
    """1.3 GB are listed in less than 10 MB. getrusage(2) would hide them below what the parent had before exec."""
    path = debian_sdk("none") / "_rocm_sdk_libraries/lib/librocsparse.so.0"
    kilobytes = int(subprocess.check_output([sys.executable, "-c", _MEASURE, str(path)], text=True))
    assert kilobytes < 10_000


# Debian's libraries with the code of one target: they load with their dependencies, and comgr finds what was kept.

LIBRARIES = "_rocm_sdk_libraries/lib"


def keep(site: Path, library: str, targets: str, output: Path) -> str:
    command = [sys.executable, "-m", "rocm_sdk", "code", str(site / LIBRARIES / library), "--keep", targets]
    return subprocess.check_output(
        [*command, "--output", str(output)], text=True, env={**os.environ, "PYTHONPATH": str(site)}
    )


@pytest.mark.slow
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
