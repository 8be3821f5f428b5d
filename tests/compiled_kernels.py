"""Code objects, compiled with the clang of the system."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from compiled_files import compile_file
from sample_device_code import CLANG

KERNEL = """
kernel void scale(global float *Y, float N) {
    Y[__builtin_amdgcn_workitem_id_x()] *= N;
}
"""


@cache
def _is_made_by_clang(version: int) -> bool:
    command = [CLANG, "--target=amdgcn-amd-amdhsa", "-nogpulib", f"-mcode-object-version={version}"]
    command += ["-mcpu=gfx1030", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def need_version(version: int) -> None:
    """Skip the test if clang makes no code objects of a version: Debian 13's clang makes none before 4."""
    if not _is_made_by_clang(version):
        pytest.skip(f"this clang makes no code objects of version {version}")


def compiled_kernel(directory: Path, target: str, version: int = 4) -> bytes:
    """Return a code object as clang makes it.

    The arguments of its kernel have names that YAML would take for booleans.
    """
    need_version(version)
    words = ["-x", "cl", "-Xclang", "-finclude-default-header", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}"]
    command = [CLANG, *words, "-nogpulib", "-cl-kernel-arg-info", "-O2", f"-mcode-object-version={version}", "-"]
    return compile_file(command, directory / f"{target}.co", KERNEL).read_bytes()
