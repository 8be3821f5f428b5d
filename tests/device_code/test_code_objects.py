"""Code objects: the target that e_flags tell, in each version. Judge: clang, which makes them."""

import re
from pathlib import Path

import pytest
from compiled_kernels import need_version
from ended import succeeded
from sample_device_code import CLANG, code_object

from rocm_sdk import device_code


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("target", ["gfx803", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-", "gfx1030"])
def test_what_clang_makes(tmp_path: Path, target: str, version: int) -> None:
    need_version(version)
    path = tmp_path / "kernel.hsaco"
    command = [
        CLANG,
        "-x",
        "c",
        "--target=amdgcn-amd-amdhsa",
        f"-mcpu={target}",
        "-nogpulib",
        "-c",
        "-",
        "-o",
        str(path),
    ]
    succeeded([*command, f"-mcode-object-version={version}"], input="void f(void) {}")
    code = device_code(path)
    (image,) = code.bundles[0].images
    assert (code.kind, image.format, image.version, image.size) == (
        "code object",
        "code object",
        version,
        path.stat().st_size,
    )
    # In version 3, a feature that is not named is on or off too: only xnack is what was asked for.
    told = re.sub(r":sramecc[+-]", "", image.target) if version == 3 else image.target
    assert told == (target.replace(":sramecc+", "") if version == 3 else target)


@pytest.mark.parametrize(
    ("flags", "abi", "target", "generic"),
    [
        (0x53F, 2, "gfx90a", 0),
        (0x4C | 0x200 | 0x800, 2, "gfx942:sramecc-:xnack-", 0),
        (0x4C | 0x300 | 0xC00, 2, "gfx942:sramecc+:xnack+", 0),
        (0x4C | 0x500, 3, "gfx942", 0),
        (0x3F | 0x100, 1, "gfx90a:sramecc-:xnack+", 0),
        (0x32F, 0, "gfx906:sramecc+:xnack+", 0),
        (0x3, 0, "", 0),  # version 2 of old writers: flags without a processor
        (0x4A, 2, "gfx1151", 0),
        (0x01000054, 4, "gfx11-generic", 1),
        (0x0200055F, 4, "gfx9-4-generic", 2),
        (0x349, 4, "gfx1250", 0),  # xnack is always on, and not named
        (0x7F, 2, "mach-0x7f", 0),
    ],
)
def test_flags(tmp_path: Path, flags: int, abi: int, target: str, generic: int) -> None:
    path = tmp_path / "kernel.co"
    path.write_bytes(code_object(flags, abi, 64))
    (image,) = device_code(path).bundles[0].images
    assert (image.target, image.version, image.generic_version) == (target, abi + 2, generic)


def test_objects_of_other_runtimes(tmp_path: Path) -> None:
    path = tmp_path / "kernel.co"
    path.write_bytes(code_object(0x36, 0, 64, os_abi=66))
    assert device_code(path).bundles[0].images[0].version == 0
