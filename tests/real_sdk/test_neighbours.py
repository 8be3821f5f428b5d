"""The neighbours, as they are released: AMD's own bindings and torch, calling into what we preloaded."""

import platform
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_site import clean_environment, run_python

BUILD = Path(__file__).resolve().parents[2] / "build"
BINDINGS = (
    "rocm-bindings-core==10.0.0.0.1.2",
    "rocm-bindings-hip==10.0.0.0.1.2",
    "rocm-bindings-libraries==10.0.0.0.1.2",
)
# The build for CPUs carries the hook for ROCm like every other.
TORCH = ("torch==2.13.0+cpu", "typing-extensions", "filelock", "sympy", "networkx", "jinja2", "fsspec")


def install(directory: Path, *requirements: str) -> str | None:
    """Installs into a directory that later runs find again; returns pip's words where it could not."""
    done = directory / ".complete"
    if done.exists() and done.read_text() == " ".join(requirements):
        return None
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--root-user-action",
        "ignore",
    ]
    result = subprocess.run(
        [*command, "--no-deps", "--only-binary", ":all:", "--upgrade", "--target", str(directory), *requirements],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        return result.stderr.strip().splitlines()[-1]
    done.write_text(" ".join(requirements))
    return None


def tag() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}-{platform.machine()}"


@pytest.fixture(scope="module")
def bindings() -> Path:
    directory = BUILD / f"bindings-{tag()}"
    if problem := install(directory, *BINDINGS):
        pytest.skip(f"AMD's bindings cannot be installed for this Python: {problem}")
    return directory


@pytest.fixture(scope="module")
def torch() -> Path:
    directory = BUILD / f"torch-{tag()}"
    if problem := install(directory, *TORCH):
        pytest.skip(f"no CPU build of torch can be installed for this Python: {problem}")
    return directory


def test_bindings_call_what_we_preloaded(debian_sdk: Callable[[str], Path], bindings: Path) -> None:
    """Without RPATHs: the bindings ask find_libraries for the file, and its dependencies are in the process already."""
    program = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hiprand"])
from rocm.bindings import hip, hiprand
print(hip.hipRuntimeGetVersion())
print(hip.hipGetDeviceCount())
print(hiprand.hiprandGetVersion())
"""
    result = run_python(program, PYTHONPATH=f"{debian_sdk('none')}:{bindings}")
    version, devices, random_version = result.stdout.splitlines()
    assert "50221153" in version
    assert "hipErrorNoDevice" in devices or "hipSuccess" in devices
    assert "201009" in random_version


def test_bindings_fail_without_us(debian_sdk: Callable[[str], Path], bindings: Path) -> None:
    """So that the test above shows something."""
    program = "from rocm.bindings import hip\nprint(hip.hipRuntimeGetVersion())"
    result = run_python(program, check=False, PYTHONPATH=f"{debian_sdk('none')}:{bindings}")
    assert result.returncode != 0


def test_import_torch_brings_the_libraries_in(debian_sdk: Callable[[str], Path], torch: Path, tmp_path: Path) -> None:
    """A CPU torch imports `torch._rocm_init` like every other, and calls its initialize()."""
    package = tmp_path / "torch"
    package.mkdir()
    for entry in (torch / "torch").iterdir():
        (package / entry.name).symlink_to(entry)
    (package / "_rocm_init.py").write_text(
        "\ndef initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process(\n"
        "        preload_shortnames=['amd_comgr', 'amd_smi', 'amdhip64', 'hiprand', 'hipsparse', 'hipblaslt'],\n"
        "        check_version='5.2.3')\n"
    )
    program = """
import torch, rocm_sdk
names = (library.location.shortname for library in rocm_sdk.loaded_libraries())
print(torch.__version__, *(name for name in names if name in ("amd_comgr", "amdhip64", "hiprand", "hipsparse")))
import ctypes
version = ctypes.c_int()
hip = ctypes.CDLL(str(rocm_sdk.find_libraries("amdhip64")[0]))
print(hip.hipRuntimeGetVersion(ctypes.byref(version)), version.value, torch.ones(3).sum().item())
"""
    result = run_python(program, PYTHONPATH=f"{tmp_path}:{debian_sdk('none')}:{torch}")
    first, second = result.stdout.splitlines()
    assert first.split()[1:] == ["amd_comgr", "amdhip64", "hiprand", "hipsparse"]
    assert second == "0 50221153 3.0"


def test_virtual_environment_with_the_sdk_beside_an_editable_loader(
    debian_sdk: Callable[[str], Path], tmp_path: Path
) -> None:
    """The SDK and the loader reached through .pth files, as `pip install -e` leaves them."""
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    (site / "sdk.pth").write_text(f"{debian_sdk('none')}\n")
    import rocm_sdk

    (site / "loader.pth").write_text(f"{Path(rocm_sdk.__file__).parents[1]}\n")
    result = subprocess.run(
        [str(python), "-c", "import rocm_sdk; print(rocm_sdk.__version__, rocm_sdk.locate('amdhip64').path)"],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == ["5.2.3", f"{debian_sdk('none')}/_rocm_sdk_core/lib/libamdhip64.so.5"]
