"""The device code of Debian's libraries, beside what clang-offload-bundler finds in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_sdk import device_code

TARGETS = ["gfx1030", "gfx803", "gfx900:xnack-", "gfx906:xnack-", "gfx908:xnack-", "gfx90a:xnack+", "gfx90a:xnack-"]
CLANG = shutil.which("clang")


@pytest.mark.parametrize(
    ("name", "bundles"), [("librocsparse.so.0", 111), ("librocrand.so.1", 1)], ids=["rocsparse", "rocrand"]
)
def test_all_bundles(debian_sdk: Callable[[str], Path], name: str, bundles: int) -> None:
    assert CLANG is not None
    path = debian_sdk("none") / "_rocm_sdk_libraries/lib" / name
    code = device_code(path)
    assert [each.target for each in code.targets] == TARGETS
    assert (len(code.bundles), code.compressed_count, code.kind) == (bundles, 0, "ELF file")
    assert all(each.image_count == bundles for each in code.targets)
    images = [image for bundle in code.bundles for image in bundle.images]
    assert {(image.format, image.version) for image in images} == {("code object", 4)}
    assert all(image.target == image.object_target for image in images)


def test_a_bundle_as_the_bundler_sees_it(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    assert CLANG is not None
    path = debian_sdk("none") / "_rocm_sdk_libraries/lib/librocrand.so.1"
    (bundle,) = device_code(path).bundles
    cut = tmp_path / "bundle"
    with path.open("rb") as file:
        file.seek(bundle.offset)
        cut.write_bytes(file.read(bundle.size))
    tool = subprocess.check_output([CLANG, "--print-prog-name=clang-offload-bundler"], text=True).strip()
    listed = subprocess.check_output([tool, "-list", "-type=o", f"-inputs={cut}"], text=True).split()
    assert sorted(each.id for each in bundle.images if each.id) == sorted(name for name in listed if "amdgcn" in name)
    for image in bundle.images:
        output = tmp_path / "image"
        subprocess.run(
            [tool, "-unbundle", "-type=o", f"-targets={image.id}", f"-inputs={cut}", f"-outputs={output}"], check=True
        )
        with path.open("rb") as file:
            file.seek(image.offset)
            assert file.read(image.size) == output.read_bytes()


def test_libraries_without_device_code(debian_sdk: Callable[[str], Path]) -> None:
    for name in ("_rocm_sdk_core/lib/libamd_comgr.so.2", "_rocm_sdk_core/lib/librocm_smi64.so.1"):
        code = device_code(debian_sdk("none") / name)
        assert (code.bundles, code.removed, code.kernel_name) == ((), False, None)


_MEASURE = """
import resource, sys, rocm_sdk
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rocm_sdk.device_code(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory(debian_sdk: Callable[[str], Path]) -> None:
    """1.3 GB are listed in less than 10 MB."""
    path = debian_sdk("none") / "_rocm_sdk_libraries/lib/librocsparse.so.0"
    kilobytes = int(subprocess.check_output([sys.executable, "-c", _MEASURE, str(path)], text=True))
    assert kilobytes < 10_000
