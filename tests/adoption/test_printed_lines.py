"""The lines that README and quick start print to install with, run from where their reader stands.

AMD's index is one of ours, with an SDK that was packaged from artifacts and with `rocm` in AMD's layout.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from artifact_tree import usual_tree
from programs import completed
from sample_device_code import kpack, objects
from sample_machine import Machine
from sample_site import clean_environment, compile_library

from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.packages.wish import Wish

ROOT = Path(__file__).resolve().parents[2]
VERSION = "7.10.0"
TORCH_VERSION = f"99+rocm{VERSION}"
HIP = "int hipInit(unsigned f) { return f; } int hipGetDeviceCount(int *n) { *n = 1; return 0; }"
WORKING = (
    (("core-hip_lib_generic", "lib/libamdhip64.so.7.1.2"), "libamdhip64.so.7", HIP),
    (("blas_lib_generic", "lib/librocblas.so.5"), "librocblas.so.5", "int rocblas_create_handle;"),
)
TORCH = "import rocm_sdk\n\nrocm_sdk.initialize_process(preload_shortnames=['amdhip64'], check_version='7.*')\n"
CUDA = "import ctypes\n\n\ndef is_available():\n    ctypes.CDLL('libamdhip64.so.7')\n    return True\n"
TORCH_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {TORCH_VERSION}
Requires-Dist: rocm[libraries]=={VERSION}
Provides-Extra: device-gfx942
Requires-Dist: amd-torch-device-gfx942=={TORCH_VERSION}; extra == "device-gfx942"
"""
DEVICE_METADATA = f"Metadata-Version: 2.1\nName: amd-torch-device-gfx942\nVersion: {TORCH_VERSION}\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_torch(directory: Path) -> None:
    """Write the wheels of a framework that loads ROCm when it is imported, as torch does, and of its GPU package."""
    with zipfile.ZipFile(directory / f"amd_torch_device_gfx942-{TORCH_VERSION}-py3-none-any.whl", "w") as archive:
        for name, text in {"METADATA": DEVICE_METADATA, "WHEEL": WHEEL, "RECORD": ""}.items():
            archive.writestr(f"amd_torch_device_gfx942-{TORCH_VERSION}.dist-info/{name}", text)
    with zipfile.ZipFile(directory / f"torch-{TORCH_VERSION}-py3-none-any.whl", "w") as archive:
        for name, text in {
            "torch/__init__.py": TORCH + "from . import cuda as cuda\n",
            "torch/cuda.py": CUDA,
            f"torch-{TORCH_VERSION}.dist-info/METADATA": TORCH_METADATA,
            f"torch-{TORCH_VERSION}.dist-info/WHEEL": WHEEL,
            f"torch-{TORCH_VERSION}.dist-info/RECORD": "",
        }.items():
            archive.writestr(name, text)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, established: ModuleType) -> str:
    """Return the address of the index."""
    directory = tmp_path_factory.mktemp("index")
    tree = usual_tree(directory / "artifacts")
    for path, soname, source in WORKING:
        compile_library(tree.place(*path), soname, source)
    (code,) = objects("gfx942", size=64).values()
    tree.file("blas_lib_gfx942", "lib/rocblas/library/Kernels_gfx942.co", code)
    tree.file("blas_lib_gfx942", ".kpack/blas_lib_gfx942.kpack", kpack({"lib/librocblas.so.5#0": {"gfx942": code}}))
    build(Wish([tree.root], directory, VERSION), read_rules())
    (directory / f"dist/rocm-{VERSION}.tar.gz").unlink()
    established.write_rocm(VERSION, directory / "dist", directory / "sources")
    write_torch(directory / "dist")
    write_index(directory / "dist")
    return f"{(directory / 'dist/simple').as_uri()}/"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the repository in a directory of its name: the files alone, nothing compiled."""
    names = subprocess.check_output(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    for name in names.decode().strip("\0").split("\0"):
        target = tmp_path / "rocm_sdk" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    return tmp_path / "rocm_sdk"


def lines(page: str, heading: str) -> str:
    """Return the first block of shell lines below a heading."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    found = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def run(text: str, cwd: Path, index: str, **variables: str) -> subprocess.CompletedProcess[str]:
    python = Path(sys.executable).resolve().parent
    environment = clean_environment() | {"PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {"CFLAGS": "-O1", "CC": str(ROOT / "tests/stored_compiler")}  # quick
    environment["ROCM_SDK_INDEX"] = index
    environment["PIP_CONSTRAINT"] = os.devnull  # of this machine: it may want another torch
    environment["PATH"] = f"{python}:{environment['PATH']}"
    user, terminal = os.openpty()
    os.write(user, b"y\n")  # to the question of `rocm-sdk install`
    result = completed(["bash", "-euxc", text], cwd=cwd, env=environment | variables, stdin=terminal)
    for descriptor in (user, terminal):
        os.close(descriptor)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "does not provide the extra" not in result.stderr
    return result


@pytest.mark.slow
def test_install_in_a_clone(clone: Path, index: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx942")
    packages, *text = lines("README.md", "Install").splitlines()
    assert packages.startswith("apt-get update ")
    text += re.findall(r"^Then `(.+?)`", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(text) > 1
    run("\n".join(text), clone, index, ROCM_SDK_ROOTFS=str(machine.root))
    shown = subprocess.check_output([clone / ".venv/bin/rocm-sdk", "version"], text=True)
    assert shown == f"{VERSION}\n"
    python = clone / ".venv/bin/python"
    subprocess.run([python, "-m", "rocm_sdk.adoption", "--check"], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_from_nothing_to_torch(clone: Path, index: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx942")
    packages, *text = lines("docs/quickstart.md", "From nothing to PyTorch").splitlines()
    assert packages.startswith("apt-get update ")
    result = run("\n".join(text), clone.parent, index, ROCM_SDK_ROOTFS=str(machine.root))
    assert result.stdout.endswith("True\n")
    assert "gfx942" in result.stdout
