"""The command `rocm-sdk`, called as its users call it, on an SDK of tiny libraries."""

import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_site import CORE, LIBRARIES, Site, clean_environment

SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")
Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]


@pytest.fixture
def script() -> Path:
    """The command, as installed."""
    return SCRIPT


@pytest.fixture
def sdk(site: Site) -> Site:
    """amdhip64 and hipsparse, which needs rocsparse, which needs amdhip64; no RPATHs."""
    hip = site.library("libamdhip64.so.7", "int hip_answer(void) { return 42; }")
    rocsparse = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library("libhipsparse.so.1", needed=(rocsparse,), package=LIBRARIES)
    site.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx942;gfx1100"}')
    return site


@pytest.fixture
def call(sdk: Site) -> Call:
    """`call("tree", "hipsparse", NAME="value")` runs `rocm-sdk tree hipsparse`; keywords are environment variables."""

    def run(*words: str, **environment: str) -> Result:
        variables = clean_environment() | {"PYTHONPATH": str(sdk.path)} | environment
        return completed([str(SCRIPT), *words], env=variables)

    return run


@pytest.fixture
def devel_tree(sdk: Site) -> Path:
    """The root of the development tree, which is packed until a command needs it."""
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
