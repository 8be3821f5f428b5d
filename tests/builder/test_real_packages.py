"""The SDK made of Debian's real ROCm packages; downloads and trees are kept below build/debian for other tests."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from debian_sdk import debian_site, rocm
from programs import completed

from rocm_sdk_build.code.dlopen_dependencies import DlopenDependency, find_dlopen_dependencies
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.inputs.prefix.host_libraries import is_base_library

pytestmark = pytest.mark.long

HIPSPARSE = "_rocm_sdk_libraries/lib/libhipsparse.so.0"

HIP_VERSION = """
import ctypes, sys
version = ctypes.c_int()
ctypes.CDLL(sys.argv[1])
hip = ctypes.CDLL("libamdhip64.so.5")
assert hip.hipRuntimeGetVersion(ctypes.byref(version)) == 0
print(version.value)
"""


@pytest.fixture(scope="module", params=list(Shape), ids=[shape.value for shape in Shape])
def site(request: pytest.FixtureRequest) -> Path:
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no Debian packages to make an SDK from")
    return debian_site(request.param)


def needed(library: Path) -> set[str]:
    """Return the DT_NEEDED entries of a library, as readelf tells them."""
    output = subprocess.run(["readelf", "-dW", str(library)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output))


@pytest.mark.slow
def test_nothing_is_missing_and_nothing_of_the_base_is_there(site: Path) -> None:
    libraries = {path.name: path for path in site.rglob("*.so*")}
    assert {rocm().llvm, "libnuma.so.1", "libdrm.so.2", "librocsparse.so.0"} <= libraries.keys()
    assert not [name for name in libraries if is_base_library(name)]
    missing = {
        name for path in libraries.values() for name in needed(path) - libraries.keys() if not is_base_library(name)
    }
    assert not missing


def test_hipsparse_loads_without_help_where_libraries_find_each_other(site: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    result = completed([sys.executable, "-c", HIP_VERSION, str(site / HIPSPARSE)], cwd=tmp_path, env=environment)
    if site.name.startswith("none-"):
        assert "librocsparse.so.0: cannot open shared object file" in result.stderr
    else:
        version = int(result.stdout)
        (metadata,) = site.glob("rocm_sdk_core-*.dist-info/METADATA")
        expected = f"\nVersion: {version // 10_000_000}.{version // 100_000 % 100}."
        assert expected in metadata.read_text(), "the wheel has the version that HIP reports"


def test_the_supported_gpus(site: Path) -> None:
    facts = json.loads((site / "_rocm_sdk_core/share/therock/dist_info.json").read_text())
    assert facts["dist_amdgpu_targets"] == ";".join(rocm().processors)


def test_what_amdhip64_names_without_needing_it(site: Path) -> None:
    found = find_dlopen_dependencies(site)
    assert found == ([DlopenDependency("libamdhip64.so.5", "libamd_comgr.so.2")] if rocm().hip_opens_comgr else [])
