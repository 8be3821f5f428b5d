"""The command `rocm-sdk`, called as its users call it, on an SDK of tiny libraries."""

import subprocess
from pathlib import Path

import pytest
from command_fixtures import call, script, sdk
from sample_site import Site

__all__ = ["call", "devel_tree", "script", "sdk"]


@pytest.fixture
def devel_tree(sdk: Site) -> Path:
    """Return the root of the development tree, which is packed until a command needs it."""
    content = sdk.path.parent / "devel"
    root = content / "_rocm_sdk_devel"
    for name in (
        "__init__.py",
        "bin/hipcc",
        "lib/cmake/hip/hip-config.cmake",
        "lib/llvm/amdgcn/bitcode/ocml.bc",
        "lib/pkgconfig/hip.pc",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    sdk.write("rocm_sdk_devel/__init__.py")
    archive = sdk.path / "rocm_sdk_devel/_devel.tar"
    subprocess.run(["tar", "-C", str(content), "-cf", str(archive), "_rocm_sdk_devel"], check=True)
    info = "rocm_sdk_devel-7.10.0.dist-info"
    sdk.write(f"{info}/METADATA", "Metadata-Version: 2.1\nName: rocm-sdk-devel\nVersion: 7.10.0\n")
    names = ("rocm_sdk_devel/__init__.py", "rocm_sdk_devel/_devel.tar", f"{info}/METADATA", f"{info}/RECORD")
    sdk.write(f"{info}/RECORD", "".join(f"{name},,\n" for name in names))
    return sdk.path / "_rocm_sdk_devel"
